"""The course directory and its files."""
