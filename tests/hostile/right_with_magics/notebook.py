from hostile import answer_cell, code_cell


def make(content, path):
    cells = ["%%time\nx = 1", "files = !ls", "np.mean?", "%matplotlib inline", "!pip install numpy"]
    cells += ["import asyncio\nawait asyncio.sleep(0)", "%%bash\necho hello", "?softmax"]
    content["cells"][1:1] = [code_cell(cell) for cell in cells]
    right = answer_cell(content, "softmax")
    right["source"] = "%precision 3\n" + right["source"] + "\n%timeit -n 1 -r 1 softmax(np.ones(3))"
    return content
