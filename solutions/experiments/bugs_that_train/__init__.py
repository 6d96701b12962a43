"""What chapter 13 measures."""
