"""The grader's side of the sandbox: start it, give it orders, and end it.

The docstring of `autograder.probe` says which processes there are and who talks to whom. Here are
the kinds of sandboxes (`backends.py`), how a supervisor is started in bubblewrap or in a container
(`starting.py`, `containers.py`), which folders it sees (`shown.py`), the limits (`limits.py`), one
room as the grader sees it (`rooms.py`), and what `autograder doctor` tries (`doctor.py`).
"""
