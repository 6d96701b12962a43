def softmax(x, axis=-1):
    raise ValueError("x" * 10**7)
