"""Judging: what an exercise is, and whether an answer is right."""
