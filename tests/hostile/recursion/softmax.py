def softmax(x, axis=-1):
    return softmax(x, axis)
