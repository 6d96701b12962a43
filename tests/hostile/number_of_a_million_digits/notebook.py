def make(content, path):
    return b'{"cells": [], "x": ' + b"9" * 10**6 + b"}"
