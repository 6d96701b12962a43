"""The self-check: what the student's notebook sees."""
