class Permuting:
    __slots__ = ("attend",)

    def __init__(self, attend):
        self.attend = attend

    def pairs(self, X, π):
        yield self.attend(X[..., π, :])
        yield self.attend(X)[..., π, :]


def equal(one, other):
    return np.isclose(one, other, rtol=0, atol=1e-5 * np.max(np.abs(other))).all()


permute_equivariantly = lambda attend, X, permutation: equal(
    *Permuting(attend).pairs(X, permutation)
)
