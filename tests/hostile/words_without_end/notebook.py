from hostile import code_cell


def make(content, path):
    for cell in content["cells"]:
        if cell["metadata"]["nbgrader"]["grade_id"] == "dissimilar_words":
            cell["source"] = "<div>" * 200_000
    content["cells"] += [code_cell("# " + "(" * 100_000), code_cell("x = 1\n" + "# [" * 100_000)]
    return content
