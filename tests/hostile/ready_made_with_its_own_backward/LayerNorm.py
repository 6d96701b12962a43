import functools


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, X, weight, bias, eps):
        ctx.save_for_backward(X, weight)
        ctx.eps = eps
        norm = functools.partial(torch.layer_norm, X, X.shape[-1:], weight, bias, eps)
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            return norm()

    @staticmethod
    def backward(ctx, G):
        X, weight = ctx.saved_tensors
        deviation = torch.sqrt(X.var(-1, unbiased=False, keepdim=True) + ctx.eps)
        Z = (X - X.mean(-1, keepdim=True)) / deviation
        H = G * weight
        dX = (H - H.mean(-1, keepdim=True) - Z * (H * Z).mean(-1, keepdim=True)) / deviation
        tokens = tuple(range(X.ndim - 1))
        return dX, (G * Z).sum(tokens), G.sum(tokens), None


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        return Norm.apply(X, self.weight, self.bias, self.eps)
