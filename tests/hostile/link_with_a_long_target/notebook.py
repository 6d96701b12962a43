def make(content, path):
    path.parent.rmdir()
    path.parent.symlink_to("x" * 300)
    (path.parents[2] / "zz-link").symlink_to("y" * 300)
