WORDS = "[here](/files/javascript:alert`1`) [there](files/javascript:alert`1`) [x](/files//files/data:text/html,x)"


def make(content, path):
    for cell in content["cells"]:
        if cell["metadata"]["nbgrader"]["grade_id"] == "dissimilar_words":
            cell["source"] = WORDS
    return content
