"""Find and read weights that others have trained and published."""
