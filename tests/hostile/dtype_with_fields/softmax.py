def softmax(x, axis=-1):
    return np.zeros(x.shape, dtype=[("weight", float), ("points", float)])
