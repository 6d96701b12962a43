WORDS = "$\\href{javascript:alert(1)}{x}$ $\\require{html}\\class{x}{y}$ $$\\def\\x{\\x\\x}\\x$$ \\(\\unicode{x3c}script\\)"


def make(content, path):
    for cell in content["cells"]:
        if cell["metadata"]["nbgrader"]["grade_id"] == "dissimilar_words":
            cell["source"] = WORDS
    return content
