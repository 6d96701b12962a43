def make(content, path):
    for cell in content["cells"]:
        cell["source"] = (
            cell["source"] + "\n\n# \ud800" if cell["cell_type"] == "code" else "\udfff"
        )
    return content
