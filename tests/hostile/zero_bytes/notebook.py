from hostile import answer_cell


def make(content, path):
    cell = answer_cell(content, "softmax")
    cell["source"] += "\0"
    cell["id"] = "\0"
    return content
