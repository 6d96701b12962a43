"""Reference answers that no chapter shows and that do not fit into the chapters' modules."""
