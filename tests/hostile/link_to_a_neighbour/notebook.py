def make(content, path):
    path.symlink_to("../../0-honest/self_attention/self_attention.ipynb")
