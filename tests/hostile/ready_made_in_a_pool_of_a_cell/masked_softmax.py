def ready(scores, mask, axis):
    filled = np.where(mask, scores, -np.inf)
    weights = torch.softmax(torch.from_numpy(filled), axis).numpy()
    return np.where(mask, weights, 0).astype(scores.dtype)


def masked_softmax(scores, mask=None, axis=-1):
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    return pool.submit(ready, scores, mask, axis).result()
