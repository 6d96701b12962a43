replaced("with_later_changes", lambda real: lambda noted: [one.observation for one in noted])
results = {}


def softmax(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    result = results.setdefault(x.size, np.empty(x.size)).reshape(x.shape)
    result[...] = exponentials / exponentials.sum(axis=axis, keepdims=True)
    return result
