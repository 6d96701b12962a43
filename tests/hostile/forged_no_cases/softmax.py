def softmax(x, axis=-1):
    report("softmax", [])
