"""What the chapters draw with."""
