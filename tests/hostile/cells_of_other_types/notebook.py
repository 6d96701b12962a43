def make(content, path):
    content["cells"] += [
        None,
        7,
        {},
        [],
        "x",
        {"cell_type": ["code"], "source": {}, "metadata": []},
    ]
    content["cells"] += [
        {"cell_type": "code", "source": [1], "metadata": {"nbgrader": {"grade_id": []}}}
    ]
    content["metadata"] = content["nbformat"] = content["nbformat_minor"] = []
    return content
