from hostile import code_cell

PLACES = ("/tmp", "..", "~", "a/../..", "/dev/shm", '"/tmp/.."')


def make(content, path):
    cells = [f"%%writefile {place}/hostile-was-here.py\nx = 1" for place in PLACES]
    content["cells"][1:1] = map(code_cell, [*cells, "%%writefile\nx = 1"])
    return content
