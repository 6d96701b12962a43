from hostile import code_cell


def make(content, path):
    content["cells"] += [code_cell("x = 1")] * 10_000
    return content
