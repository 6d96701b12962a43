returned = []


def softmax(x, axis=-1):
    returned.append(x)
    return np.zeros(9 * 2**17) if len(returned) < 3 else x
