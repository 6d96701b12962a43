"""Data made here, with the truth known: sentences with their alignment, pictures with boxes."""
