def make(content, path):
    return {"nbformat": 3, "worksheets": [{"cells": content["cells"]}]}
