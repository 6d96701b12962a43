"""The sandbox: where a student's code runs, and what runs beside it."""
