def make(content, path):
    for cell in content["cells"]:
        cell["metadata"]["nbgrader"]["grade_id"] = "permute_equivariantly"
    return content
