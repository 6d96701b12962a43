def make(content, path):
    content["metadata"]["kernelspec"] = {"name": "../../evil", "language": 3}
    return content
