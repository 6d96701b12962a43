"""Read submissions robustly, whatever was done to the file."""
