"""Settings that make x86-64 processors with AVX2 compute identical results."""

import platform

SETTINGS = {
    "MKL_CBWR": "COMPATIBLE",
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4,AVX512_ICL,AVX512_SPR",
}
"""Environment variables, to be set before NumPy and torch are imported.

Each library computes with the best instructions that the processor offers, and different
instructions round differently. After a few hundred steps of training, this gives a different model.
These variables make all processors use the same instructions.
"""

SAME_EVERYWHERE = SETTINGS if platform.machine() in ("x86_64", "AMD64") else {}
"""The variables that apply to this machine; empty on a processor of another family."""
