def make(content, path):
    for cell in content["cells"]:
        cell["source"] = cell["source"].replace("\n", "\r\n")
    return content
