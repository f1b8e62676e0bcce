"""Simulated arms at a bench: physics and pictures by MuJoCo, a task, a scripted expert and a small trained policy.

Everything here is simulated and everything that leaves it says so. Nothing here knows a network.
"""

import ctypes.util
import os

# Pictures are drawn in memory by software. MuJoCo takes its choice when it is first imported, and without the library that
# import itself fails, so physics then goes on without pictures.
os.environ.setdefault("MUJOCO_GL", "osmesa" if ctypes.util.find_library("OSMesa") else "disable")
os.environ.setdefault("LP_NUM_THREADS", "0")  # the rasteriser's own threads cost more than they bring at this size
