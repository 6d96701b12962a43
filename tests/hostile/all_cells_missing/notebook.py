def make(content, path):
    content["cells"] = []
    return content
