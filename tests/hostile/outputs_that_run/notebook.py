LIVE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def make(content, path):
    kinds = ("text/html", "image/svg+xml", "application/javascript", "text/latex", "text/markdown")
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            data = {kind: LIVE for kind in kinds}
            cell["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {}}]
    return content
