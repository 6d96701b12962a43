from hostile import answer_cell


def make(content, path):
    answer_cell(content, "softmax")["source"] = "x = " + "(" * 50_000 + ")" * 50_000
    return content
