"""What runs in the sandbox, beside the student's code. It holds no secret and imports no more."""
