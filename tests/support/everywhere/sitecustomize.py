"""Python runs this at its start where this folder is on PYTHONPATH: the toy assignment is known."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

import toy

checks.assignments = lambda: {"toy": toy.WRITTEN_TOY}
