from hostile import answer_cell


def make(content, path):
    for cell in content["cells"]:
        cell["metadata"]["nbgrader"] |= {"points": 1e9, "locked": False, "checksum": "0" * 32}
        cell["metadata"]["nbgrader"] |= {"score": 1e9, "manual_score": 1e9, "auto_score": 1e9}
    answer_cell(content, "softmax")["source"] = (
        "def softmax(x, axis=-1):\n    return np.full(x.shape, 0.125)"
    )
    return content
