"""Judge whether an answer is right, and which known mistake it makes."""
