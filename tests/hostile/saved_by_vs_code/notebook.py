def make(content, path):
    content["metadata"] = {"language_info": {"name": "python"}, "orig_nbformat": 4}
    content["nbformat_minor"] = 2
    for cell in content["cells"]:
        cell.pop("id")
    return content
