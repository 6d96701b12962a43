"""Simulate a term with the documented commands: `make demo`, and a short term as a test."""
