"""The experiments of chapter 5."""
