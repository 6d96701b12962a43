"""The experiments of chapter 4."""
