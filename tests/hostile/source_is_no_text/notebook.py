from hostile import answer_cell


def make(content, path):
    answer_cell(content, "softmax")["source"] = 42
    return content
