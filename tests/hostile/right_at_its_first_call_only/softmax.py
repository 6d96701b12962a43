first = {}


def once(real):
    def attempt(function, *arguments, **keywords):
        key = repr((arguments, keywords))
        if key not in first:
            first[key] = real(function, *arguments, **keywords)
        return first[key]

    return attempt


replaced("attempt", once)
inputs = []


def softmax(x, axis=-1):
    again = any(np.array_equal(x, one) for one in inputs)
    inputs.append(x.copy())
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True) + again
