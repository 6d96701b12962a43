"""What goes wrong in `GPT`, in files by what it concerns."""
