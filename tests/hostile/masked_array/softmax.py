def softmax(x, axis=-1):
    return np.ma.masked_all(x.shape)
