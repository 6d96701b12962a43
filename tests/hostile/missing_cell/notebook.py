from hostile import answer_cell


def make(content, path):
    content["cells"].remove(answer_cell(content, "softmax"))
    return content
