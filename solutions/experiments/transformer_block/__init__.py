"""The experiments of chapter 8."""
