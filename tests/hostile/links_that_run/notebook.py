WORDS = "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](vbscript:x) [e]( java\tscript:alert(1))\n\n<javascript:alert(1)>\n\n[f][1] ![g](javascript:x)\n\n[1]: javascript:alert(1)"


def make(content, path):
    for cell in content["cells"]:
        if cell["metadata"]["nbgrader"]["grade_id"] == "dissimilar_words":
            cell["source"] = WORDS
    return content
