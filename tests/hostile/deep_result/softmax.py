def softmax(x, axis=-1):
    nested = []
    for _ in range(5_000):
        nested = [nested]
    return nested
