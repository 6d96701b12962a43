def make(content, path):
    path.mkdir()
