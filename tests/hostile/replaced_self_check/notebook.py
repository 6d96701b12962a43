from hostile import answer_cell


def make(content, path):
    for cell in content["cells"]:
        if cell["metadata"]["nbgrader"]["grade_id"].endswith("-check"):
            cell["source"] = "print('passed')\n1e9"
    answer_cell(content, "softmax")["source"] = (
        "def softmax(x, axis=-1):\n    return np.full(x.shape, 0.125)"
    )
    return content
