"""Define exercises, and how a course declares them."""

PACKAGE = "exercises"
"""The default course package."""
