from hostile import answer_cell


def make(content, path):
    answer_cell(content, "softmax")["source"] = "x = " + "-" * 900_000 + "1"
    return content
