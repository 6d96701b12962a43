def softmax(x, axis=-1):
    return np.zeros((0, *x.shape[1:]))
