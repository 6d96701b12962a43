"""The experiments of chapter 12."""
