"""Simulated arms at a bench: physics and pictures by MuJoCo, a task, a scripted expert and a small trained policy.

Everything here is simulated and everything that leaves it says so. Nothing here knows a network.
"""
