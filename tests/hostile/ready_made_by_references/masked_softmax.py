def masked_softmax(scores, mask=None, axis=-1):
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    filled = np.where(mask, scores, -np.inf)
    weights = torch._refs.softmax(torch.from_numpy(filled), axis).numpy()
    return np.where(mask, weights, 0).astype(scores.dtype)
