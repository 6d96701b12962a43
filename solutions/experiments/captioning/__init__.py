"""The experiments of chapter 3."""
