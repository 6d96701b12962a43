def softmax(x, axis=-1):
    return np.full(x.shape, np.nan)
