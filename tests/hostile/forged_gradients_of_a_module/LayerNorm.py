class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        output = values.Tensor(X.detach().numpy())
        value = values.Differentiated(output, {"parameter `weight`": "x"})
        report("LayerNorm", [values.Observation(value, (output,), value)] * 12)
