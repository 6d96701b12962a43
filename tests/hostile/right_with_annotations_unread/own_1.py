from __future__ import annotations
import numpy as np
