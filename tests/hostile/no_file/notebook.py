def make(content, path):
    return None
