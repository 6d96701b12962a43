def softmax(x, axis=-1):
    nested = []
    nested += [nested] * 20
    return nested
