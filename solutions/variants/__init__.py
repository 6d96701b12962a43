"""Answers to exercises that no chapter shows, where a chapter's own module is full."""
