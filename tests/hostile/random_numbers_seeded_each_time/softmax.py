def softmax(x, axis=-1):
    np.random.seed(0)
    x = x + np.random.normal(size=x.shape)
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
