def softmax(x, axis=-1):
    return x * 0
