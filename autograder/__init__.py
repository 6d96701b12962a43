"""The autograder: what an exercise is, how an answer is judged, how a class is graded.

In a notebook: `from autograder import check`, then `check(my_function)`.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - no installer has looked, for a student
    raise ImportError("The exercises need Python 3.11 or newer. This is " + sys.version.split()[0])

from .selfcheck.check import check

__all__ = ["check"]
