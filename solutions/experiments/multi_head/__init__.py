"""The experiments of chapter 6."""
