from hostile import answer_cell


def make(content, path):
    answer_cell(content, "softmax")["cell_type"] = "markdown"
    return content
