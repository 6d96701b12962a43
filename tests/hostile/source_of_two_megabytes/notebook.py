from hostile import answer_cell


def make(content, path):
    answer_cell(content, "softmax")["source"] += "\n#" + "x" * 2_000_000
    return content
