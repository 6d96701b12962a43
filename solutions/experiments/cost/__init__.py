"""What chapter 11 measures."""
