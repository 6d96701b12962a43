import json


def make(content, path):
    with path.open("wb") as file:
        file.write(json.dumps(content).encode())
        file.truncate(500 * 2**20)
