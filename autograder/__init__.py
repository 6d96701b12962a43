"""The autograder: what an exercise is, how an answer is judged, how a class is graded.

In a notebook: `from autograder import check`, then `check(my_function)`.
"""

from .selfcheck.check import check

__all__ = ["check"]
