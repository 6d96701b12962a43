def softmax(x, axis=-1):
    return [np.zeros(1)] * 10**6
