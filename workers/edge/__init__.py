"""Bridges: what speaks to the console beside robots and devices."""
