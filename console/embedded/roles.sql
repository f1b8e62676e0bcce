-- Roles and rights of one Pilothouse database. Applied by psql as the superuser: by the supervisor here, and by the
-- PostgreSQL image at its first start in production. Harmless when applied again.
\set database pilothouse
\getenv database PILOTHOUSE_DATABASE_NAME
\getenv owner_password PILOTHOUSE_OWNER_PASSWORD
\getenv app_password PILOTHOUSE_APP_PASSWORD
SET client_min_messages = warning;

SELECT 'CREATE ROLE pilothouse LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pilothouse') \gexec
SELECT 'CREATE ROLE pilothouse_app LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pilothouse_app') \gexec
ALTER ROLE pilothouse NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'owner_password';
ALTER ROLE pilothouse_app NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'app_password';

SELECT format('CREATE DATABASE %I OWNER pilothouse', :'database')
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database') \gexec
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO pilothouse_app;
ALTER DATABASE :"database" SET timezone TO 'UTC';

-- An open writer anywhere stalls the journal's tail, so no transaction may stay open. The owner migrates: longer.
ALTER ROLE pilothouse_app SET search_path TO public;
ALTER ROLE pilothouse_app SET transaction_timeout TO '30s';
ALTER ROLE pilothouse_app SET statement_timeout TO '20s';
ALTER ROLE pilothouse_app SET lock_timeout TO '5s';
ALTER ROLE pilothouse_app SET idle_in_transaction_session_timeout TO '10s';
ALTER ROLE pilothouse SET search_path TO public;
ALTER ROLE pilothouse SET transaction_timeout TO '15min';
ALTER ROLE pilothouse SET lock_timeout TO '10s';
ALTER ROLE pilothouse SET idle_in_transaction_session_timeout TO '60s';

\connect :"database"
SET client_min_messages = warning;
ALTER SCHEMA public OWNER TO pilothouse;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO pilothouse_app;
ALTER DEFAULT PRIVILEGES FOR ROLE pilothouse IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO pilothouse_app;
ALTER DEFAULT PRIVILEGES FOR ROLE pilothouse IN SCHEMA public
    GRANT USAGE, SELECT ON SEQUENCES TO pilothouse_app;
