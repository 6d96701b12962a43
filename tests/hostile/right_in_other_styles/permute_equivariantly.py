class Permuting:
    __slots__ = ("attend",)

    def __init__(self, attend):
        self.attend = attend

    def pairs(self, X, π):
        yield self.attend(X[..., π, :])
        yield self.attend(X)[..., π, :]


permute_equivariantly = lambda attend, X, permutation: np.allclose(
    *Permuting(attend).pairs(X, permutation)
)
