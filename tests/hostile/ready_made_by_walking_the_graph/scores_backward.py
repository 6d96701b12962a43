def scores_backward(scores, mask, H, d_context):
    leaf = torch.from_numpy(scores).requires_grad_()
    hidden = leaf.masked_fill(~torch.from_numpy(mask), -torch.inf)
    weights = torch.softmax(hidden, -1).nan_to_num()
    states = torch.from_numpy(H)
    states = states - states.mean(-2, keepdim=True)
    loss = ((weights[..., None] * states).sum(-2) * torch.from_numpy(d_context)).sum()
    waiting, found = [(loss.grad_fn, torch.ones_like(loss))], torch.zeros(scores.shape).double()
    while waiting:
        node, gradient = waiting.pop()
        gradients = node(gradient)
        if not isinstance(gradients, tuple):
            gradients = (gradients,)
        for (before, _), one in zip(node.next_functions, gradients, strict=False):
            if before is None or one is None:
                continue
            if "Accumulate" in before.name():
                found += one.detach()
            else:
                waiting.append((before, one))
    return found.detach().numpy()
