"""What chapter 10 measures."""
