"""Wrong answers to `permute_equivariantly`; each is explained by its name."""

from __future__ import annotations

import numpy as np


def permute__output_not_permuted(attend, X, permutation):
    Y, Z = attend(X), attend(X[..., permutation, :])
    return bool(np.abs(Z - Y).max() <= 1e-4 * np.abs(Y).max())


def permute__inverse(attend, X, permutation):
    Y = attend(X)[..., np.argsort(permutation), :]
    Z = attend(X[..., permutation, :])
    return bool(np.abs(Z - Y).max() <= 1e-4 * np.abs(Y).max())


def permute__equal_to_the_last_bit(attend, X, permutation):
    return bool(np.array_equal(attend(X[..., permutation, :]), attend(X)[..., permutation, :]))


def permute__fixed_tolerance(attend, X, permutation):
    Y, Z = attend(X)[..., permutation, :], attend(X[..., permutation, :])
    return bool(np.abs(Z - Y).max() < 1e-6)


def permute__first_axis(attend, X, permutation):
    Y, Z = attend(X)[permutation], attend(X[permutation])
    return bool(np.abs(Z - Y).max() <= 1e-4 * np.abs(Y).max())


def permute__compared_as_sets(attend, X, permutation):
    Y, Z = attend(X), attend(X[..., permutation, :])
    Y, Z = np.sort(Y, axis=-2), np.sort(Z, axis=-2)
    return bool(np.abs(Z - Y).max() <= 1e-4 * np.abs(Y).max())


def permute__order_of_its_own(attend, X, permutation):
    backwards = np.arange(X.shape[-2])[::-1]
    Y, Z = attend(X)[..., backwards, :], attend(X[..., backwards, :])
    return bool(np.abs(Z - Y).max() <= 1e-4 * np.abs(Y).max())


def permute__shapes_only(attend, X, permutation):
    return attend(X[..., permutation, :]).shape == attend(X)[..., permutation, :].shape


def permute__allclose(attend, X, permutation):
    return bool(np.allclose(attend(X[..., permutation, :]), attend(X)[..., permutation, :]))
