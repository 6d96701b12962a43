"""Judging: whether an answer is right, and which mistake it makes."""
