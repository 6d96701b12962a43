"""The experiments of chapter 2."""
