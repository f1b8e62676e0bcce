"""Accounts over the API, by noun."""
