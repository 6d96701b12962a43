def make(content, path):
    folder = path.parent
    for number in range(30):
        folder = folder / f"{number}"
        folder.mkdir()
    for number in range(1000):
        (folder / f"{number}").touch()
    return content
