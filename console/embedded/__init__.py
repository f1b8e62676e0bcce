"""The embedded engines: PostgreSQL and Valkey from wheels, the same ones as in production, run without a container."""
