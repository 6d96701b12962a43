from concurrent.futures import ThreadPoolExecutor


def softmax(x, axis=-1):
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda row: np.exp(row - row.max()), rows))
    done = [row / row.sum() for row in done]
    return np.moveaxis(np.array(done).reshape(moved.shape), -1, axis)
