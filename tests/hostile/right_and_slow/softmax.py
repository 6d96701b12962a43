import time


def softmax(x, axis=-1):
    time.sleep(0.02)
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
