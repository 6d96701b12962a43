"""The functions that draw the chapters' figures."""
