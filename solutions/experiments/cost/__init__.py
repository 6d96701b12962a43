"""The experiments of chapter 11."""
