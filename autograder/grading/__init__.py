"""Grading: read a student's submission, judge it in the sandbox, and record the verdict."""
