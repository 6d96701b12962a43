import ctypes
import platform
import signal
import sys

kernel = ctypes.PyDLL(None)  # it keeps the interpreter's lock, which the new process then has
sys.setswitchinterval(1000)  # and no other thread may ask for it: in there is none
CLONE = {"x86_64": 56, "aarch64": 220}[platform.machine()]
