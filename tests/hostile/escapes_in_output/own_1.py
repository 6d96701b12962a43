import sys

print("\x1b[2J\x1b]0;x\x07\r\nFORGED 100 of 100 points")
print("\x1b]52;c;eA==\x07\nFORGED", file=sys.stderr)
