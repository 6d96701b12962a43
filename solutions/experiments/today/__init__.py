"""What chapter 12 measures."""
