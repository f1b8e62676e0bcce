"""Runs every process of `console.processes`: `manage.py up`, `down`, `status`, `backup`, `restore`."""
