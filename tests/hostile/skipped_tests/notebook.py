from hostile import answer_cell


def make(content, path):
    for cell in content["cells"]:
        cell["metadata"]["tags"] = ["skip-execution", "raises-exception", "remove-cell"]
    answer_cell(content, "softmax")["source"] = (
        "def softmax(x, axis=-1):\n    return np.full(x.shape, 0.125)"
    )
    return content
