import copy

from hostile import answer_cell


def make(content, path):
    right = answer_cell(content, "softmax")
    wrong = copy.deepcopy(right)
    wrong["source"] = "def softmax(x, axis=-1):\n    return x"
    content["cells"].insert(content["cells"].index(right), wrong)
    return content
