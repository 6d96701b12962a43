from hostile import code_cell


def make(content, path):
    live = "</code></pre><script>alert(1)</script><img src=x onerror=alert(1)>"
    cell = code_cell(f"# {live}\n'{live}'")
    cell["id"] = '"><script>'
    cell["metadata"] = {"name": live, "tags": [live], "nbgrader": {"grade_id": live}}
    content["cells"].append(cell)
    return content
