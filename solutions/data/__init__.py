"""Generated data with known answers: sentences with their alignment, pictures with boxes."""
