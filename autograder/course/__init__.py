"""A course directory, and what lies in it."""
