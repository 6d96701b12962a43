def softmax(x, axis=-1):
    import platform

    import matplotlib.pyplot as plt

    platform.platform()
    plt.figure()
    plt.title("softmax")
    plt.close()
    shares = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return shares / np.sum(shares, axis=axis, keepdims=True)
