"""Grading: from the file that a student handed in to a verdict that is never lost."""
