from hostile import code_cell

CELLS = [
    "%%writefile helpers.py\nimport numpy as np\n\n\n"
    "def exponentials(x, axis):\n    return np.exp(x - x.max(axis, keepdims=True))",
    "%%writefile -a helpers.py\ndef shares(x, axis):\n    return x / x.sum(axis, keepdims=True)\n",
    '%%file "more helpers.txt"\ndef softmax(x, axis=-1): return 0  # this is text',
]


def make(content, path):
    content["cells"][1:1] = map(code_cell, CELLS)
    return content
