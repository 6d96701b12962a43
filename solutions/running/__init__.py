"""Run experiments over several seeds, show their progress, and pass their numbers to the prose."""
