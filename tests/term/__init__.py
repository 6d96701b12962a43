"""A term, played through on the documented commands: `make demo`, and a small one as a test."""
