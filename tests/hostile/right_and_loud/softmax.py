import warnings


def softmax(x, axis=-1):
    print(x)
    warnings.warn("slow", stacklevel=2)
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
