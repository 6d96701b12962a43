OVERWRITE = """\
softmax = softmax(np.ones((2, 3)))
del dot_product_scores
self_attention = self_attention(np.ones((3, 2)))[0]


def windowed_self_attention(X, radius):
    raise NotImplementedError


def permute_equivariantly(attend, X, permutation):
    raise NotImplementedError


permute_equivariantly = print(softmax.shape)
"""


def make(content, path):
    behind = {"cell_type": "code", "execution_count": None, "id": "own", "metadata": {}}
    content["cells"].append(behind | {"outputs": [], "source": OVERWRITE})
    return content
