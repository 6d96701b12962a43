def make(content, path):
    path.parent.rmdir()
    path.parent.symlink_to(path.parent.name)
    (path.parents[2] / "zz-loop").symlink_to("zz-loop")
