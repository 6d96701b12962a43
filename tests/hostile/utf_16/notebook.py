import json


def make(content, path):
    return json.dumps(content).encode("utf-16")
