"""Fleet over the API, by noun."""
