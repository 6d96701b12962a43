"""What an exercise is, and how a course declares its exercises."""

PACKAGE = "exercises"
"""The course package, where nobody names one."""
