import copy


def make(content, path):
    at = next(
        i
        for i, c in enumerate(content["cells"])
        if c["metadata"].get("nbgrader", {}).get("grade_id") == "softmax"
    )
    first = content["cells"][at]
    second = copy.deepcopy(first)
    second["id"] = "other"
    first["source"] = """def shifted(x, axis):
    return np.exp(x - x.max(axis=axis, keepdims=True))

def softmax(x, axis=-1):
    return shifted(x, axis)  # first attempt: not divided yet
"""
    second["source"] = """def softmax(x, axis=-1):
    e = shifted(x, axis)
    return e / e.sum(axis=axis, keepdims=True)
"""
    content["cells"].insert(at + 1, second)
    return content
