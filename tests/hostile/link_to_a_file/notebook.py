def make(content, path):
    path.symlink_to("/etc/passwd")
