"""The experiments of chapter 1."""
