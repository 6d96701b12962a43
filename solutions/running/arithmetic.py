"""The settings with which processors of the x86-64 family that have AVX2 should compute alike."""

import platform

SETTINGS = {
    "MKL_CBWR": "COMPATIBLE",
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4,AVX512_ICL,AVX512_SPR",
}
"""Environment variables, to be set before NumPy and torch are imported.

Each library computes with the best instructions that a processor has, and each of these rounds
differently; after a few hundred steps of training that is another model. Here all are told to use
the same ones.
"""

SAME_EVERYWHERE = SETTINGS if platform.machine() in ("x86_64", "AMD64") else {}
"""Those of them that this machine understands: none on a processor of another family."""
