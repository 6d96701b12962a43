"""A submission: how it is read, whatever was done to it."""
