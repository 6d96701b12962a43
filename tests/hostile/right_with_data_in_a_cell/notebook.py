from hostile import answer_cell, code_cell


def make(content, path):
    right = answer_cell(content, "softmax")
    content["cells"].insert(1, code_cell(f"data = {[1.0] * 12_000}"))
    right["source"] += "\n\n\nours = softmax\n\n\ndef softmax(x, axis=-1):\n"
    right["source"] += "    return ours(x, axis) * data[-1]"
    return content
