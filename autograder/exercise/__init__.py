"""What an exercise is, and how a course declares its exercises."""
