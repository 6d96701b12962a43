from hostile import answer_cell


def make(content, path):
    one, other = answer_cell(content, "softmax"), answer_cell(content, "self_attention")
    one["metadata"], other["metadata"] = other["metadata"], one["metadata"]
    return content
