def softmax(x, axis=-1):
    return np.lib.stride_tricks.as_strided(x, shape=(1000, 1000), strides=(2**40, 2**36))
