class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.dropout = nn.Dropout(0.5)
        self.dropout.training = self.training = False
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def train(self, mode=True):
        return self

    def forward(self, X):
        centred = X - X.mean(dim=-1, keepdim=True)
        variance = (centred * centred).mean(dim=-1, keepdim=True)
        normal = centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        return self.dropout(normal)
