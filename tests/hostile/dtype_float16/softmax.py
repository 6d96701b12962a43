def softmax(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return (exponentials / exponentials.sum(axis=axis, keepdims=True)).astype(np.float16)
