def make(content, path):
    content["metadata"] = {"colab": {"provenance": []}, "kernelspec": {"name": "python3"}}
    content["nbformat_minor"] = 0
    for cell in content["cells"]:
        cell["metadata"]["id"] = cell.pop("id")
        cell["source"] = cell["source"].splitlines(keepends=True)
    return content
