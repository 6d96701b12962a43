from hostile import answer_cell


def make(content, path):
    answer_cell(content, "softmax")["source"] = "%x\n" + "(\n" * 200_000
    return content
