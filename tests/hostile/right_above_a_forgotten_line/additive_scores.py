def additive_scores(s, H, W_s, W_h, v):
    return np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    raise NotImplementedError
