def make(content, path):
    return b'{"cells":' + b"[" * 10**6
