def softmax(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    result = np.asfortranarray(exponentials / exponentials.sum(axis=axis, keepdims=True))
    result = result.astype(result.dtype.newbyteorder())[::-1][::-1]
    result.flags.writeable = False
    return result
