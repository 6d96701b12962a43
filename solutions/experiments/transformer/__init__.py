"""The experiments of chapter 9."""
