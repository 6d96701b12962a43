"""The experiments of chapter 7."""
