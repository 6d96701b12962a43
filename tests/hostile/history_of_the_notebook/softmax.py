def softmax(x, axis=-1):
    return In[-1], Out, _ih  # noqa: F821
