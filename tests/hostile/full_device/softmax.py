def softmax(x, axis=-1):
    with open("/dev/full", "w") as file:
        file.write("x" * 10**6)
    return x
