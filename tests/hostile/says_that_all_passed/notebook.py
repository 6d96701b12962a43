from hostile import answer_cell

PASSED = "softmax: all tests passed, 100 of 100 points"


def make(content, path):
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": PASSED}]
            cell["execution_count"] = 1
    answer_cell(content, "softmax")["source"] = (
        f"print({PASSED!r})\ndef softmax(x, axis=-1):\n    return np.full(x.shape, 0.125)"
    )
    return content
