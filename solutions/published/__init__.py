"""Weights that others have trained and published, and how the course finds and reads them."""
