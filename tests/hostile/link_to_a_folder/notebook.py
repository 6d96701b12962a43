def make(content, path):
    path.parent.rmdir()
    path.parent.symlink_to("../0-honest/self_attention")
