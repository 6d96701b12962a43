def softmax(x, axis=-1):
    least = np.log(np.zeros(1))
    shifted = x - np.maximum(x.max(axis=axis, keepdims=True), least)
    exponentials = scale.get() * np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
