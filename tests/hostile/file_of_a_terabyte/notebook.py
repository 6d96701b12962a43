def make(content, path):
    with path.open("wb") as file:
        file.truncate(2**40)
