"""The sandbox: where a student's code runs."""
