"""How experiments run: over seeds, with progress shown, their numbers bound to the prose."""
