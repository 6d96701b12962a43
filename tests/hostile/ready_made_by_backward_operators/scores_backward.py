def scores_backward(scores, mask, H, d_context):
    hidden = torch.from_numpy(np.where(mask, scores, -np.inf))
    weights = torch.softmax(hidden, -1).nan_to_num()
    states = H - H.mean(axis=-2, keepdims=True)
    helps = torch.from_numpy((states @ d_context[..., None])[..., 0])
    return torch._softmax_backward_data(helps, weights, -1, weights.dtype).numpy()
