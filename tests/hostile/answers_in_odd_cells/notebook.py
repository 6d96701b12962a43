def make(content, path):
    cells = {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in content["cells"]}
    cells["softmax-check"]["source"] = cells["softmax"]["source"] + "\n\n\ncheck(softmax)"
    content["cells"].remove(cells["softmax"])
    answer = cells["self_attention"]
    cells["self_attention-check"]["source"] = answer["source"] + "\n\n\ncheck(self_attention)"
    answer["source"] = ""
    cells["dot_product_scores"].update(metadata={}, id="other")
    return content
