def context_vector(weights, H):
    return (weights[..., None, :] @ H)[..., 0, :]
    raise NotImplementedError
