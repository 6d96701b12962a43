import json


def make(content, path):
    path.with_name("self_attention (1)\u202e.ipynb").write_text(json.dumps(content))
