import os


def make(content, path):
    os.mkfifo(path.parent / "timestamp.txt")
    (path.parent / "comment.txt").mkdir()
    os.mkfifo(path.parent / "self_attention.cases")
    return content
