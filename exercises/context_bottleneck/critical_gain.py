"""The exercise `critical_gain`: where a gradient neither vanishes nor explodes. To measure."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import context_bottleneck as solutions

critical_gain = Declaration(
    solutions.critical_gain,
    points=4,
    difficulty=5,
    minutes=30,
    kind=Kind.MEASURE,
    tolerance=0.02,
    help=(
        "First a function from a gain to the norm: read the sentence with the larger matrix, then "
        "multiply the Jacobians of all steps. Then search for the gain.",
        "Begin at 1/4 and go up in steps of a few percent until the norm reaches 1; then halve "
        "the last step. Begin low: once the norm has passed 1, it may fall again at larger gains, "
        "because units saturate.",
        "Section “How far back does the last state reach?”.",
    ),
)


@critical_gain.right
def fine_steps(X, h_0, W_xh, W_hh, b):
    gain = 0.25
    while True:
        h, product = np.tanh(X[0] @ W_xh + gain * h_0 @ W_hh + b), np.eye(len(b))
        for x in X[1:]:
            h = np.tanh(x @ W_xh + gain * h @ W_hh + b)
            product = product @ (gain * W_hh * (1 - h**2))
        if np.linalg.norm(product, 2) >= 1:
            return float(gain)
        gain *= 1.004


@critical_gain.right
def interpolated(X, h_0, W_xh, W_hh, b):
    gains, logarithms = np.geomspace(0.25, 8, 300), []
    for gain in gains:
        h, product = np.tanh(X[0] @ W_xh + gain * h_0 @ W_hh + b), np.eye(len(b))
        for x in X[1:]:
            h = np.tanh(x @ W_xh + gain * h @ W_hh + b)
            product = (gain * W_hh * (1 - h**2)).T @ product
        largest = np.linalg.svd(product, compute_uv=False)[0]
        logarithms.append(np.log(max(largest, 1e-300)))
    i = next(i for i, one in enumerate(logarithms) if one >= 0)
    share = -logarithms[i - 1] / (logarithms[i] - logarithms[i - 1])
    return float(gains[i - 1] * (gains[i] / gains[i - 1]) ** share)


@critical_gain.right
def halving_steps(X, h_0, W_xh, W_hh, b):
    def above(gain):
        states = [h_0]
        for x in X:
            states.append(np.tanh(x @ W_xh + gain * states[-1] @ W_hh + b))
        product = np.eye(len(b))
        for h in states[:1:-1]:
            product = gain * W_hh @ np.diag(1 - h**2) @ product
        return np.sqrt(np.linalg.eigvalsh(product @ product.T)[-1]) >= 1

    gain, step = 0.25, 1.06
    while step > 1.001:
        while not above(gain * step):
            gain *= step
        step = step**0.5
    return float(gain)


@critical_gain.right
def plain(X, h_0, W_xh, W_hh, b):
    for gain in np.geomspace(0.2, 20, 500):
        h, product = h_0, np.eye(len(b))
        for t, x in enumerate(X):
            h = np.tanh(x @ W_xh + gain * h @ W_hh + b)
            if t > 0:
                product = product @ (gain * W_hh * (1 - h**2))
        if np.linalg.norm(product, 2) >= 1:
            return float(gain)
    return 20.0


@critical_gain.wrong(
    "the norm of W_hh alone",
    "Does your answer change when X does? Where a unit is near 1, how steep is tanh?",
)
def norm_of_the_matrix(X, h_0, W_xh, W_hh, b):
    return float(1 / np.linalg.norm(W_hh, 2))


eigenvalue_of_the_matrix = critical_gain.wrong(
    "the largest eigenvalue of W_hh alone",
    "Does your answer change when X does? Where a unit is near 1, how steep is tanh?",
    norm_of_the_matrix.edit("np.linalg.norm(W_hh, 2)", "np.abs(np.linalg.eigvals(W_hh)).max()"),
)


@critical_gain.wrong(
    "states that are not read again",
    "With a larger W_hh, does the network go through the same states? What do larger sums do to "
    "the derivative of tanh?",
)
def states_not_read_again(X, h_0, W_xh, W_hh, b):
    h, product = np.tanh(X[0] @ W_xh + h_0 @ W_hh + b), np.eye(len(b))
    for x in X[1:]:
        h = np.tanh(x @ W_xh + h @ W_hh + b)
        product = product @ (W_hh * (1 - h**2))
    return float(np.linalg.norm(product, 2) ** (-1 / (len(X) - 1)))


coarse = plain.edit("np.geomspace(0.2, 20, 500)", "np.geomspace(0.2, 20, 140)")
critical_gain.wrong(
    "the tokens scaled too",
    "Which of the four parameters does g multiply?",
    coarse.edit("x @ W_xh + gain * h @ W_hh", "gain * (x @ W_xh + h @ W_hh)"),
)
critical_gain.wrong(
    "the last step only",
    "How many steps lie between the first state and the last one? How many of them does your norm "
    "cover?",
    coarse.edit("product @ (gain * W_hh * (1 - h**2))", "gain * W_hh * (1 - h**2)"),
)
critical_gain.wrong(
    "a step too many",
    "How many steps lead from the state after token 0 to the state after token 2? Is the step "
    "that reads token 0 one of them?",
    plain.edit("t > 0", "t >= 0"),
)
all_directions = critical_gain.wrong(
    "the Frobenius norm",
    "Which norm of a matrix does `np.linalg.norm` compute by default? Which norm says how much a "
    "change can grow at most?",
    plain.edit("np.linalg.norm(product, 2)", "np.linalg.norm(product)"),
)
critical_gain.wrong(
    "the largest eigenvalue of the product",
    "By how much can [[0, 9], [0, 0]] stretch a vector, and what are its eigenvalues?",
    plain.edit("np.linalg.norm(product, 2)", "np.abs(np.linalg.eigvals(product)).max()"),
)


@critical_gain.wrong(
    "the derivative of tanh forgotten",
    "Does your answer change when X does? What is the Jacobian of one step?",
)
def slope_forgotten(X, h_0, W_xh, W_hh, b):
    product = np.linalg.matrix_power(W_hh, len(X) - 1)
    return float(np.linalg.norm(product, 2) ** (-1 / (len(X) - 1)))


@critical_gain.public
def _(rng):
    yield Case("the experiment: eight tokens, five hidden units", _inputs(rng, 8, 3, 5)).holds(
        "The network reads X with g * W_hh in the place of W_hh, everything else as it is",
        "Returns the smallest g at which that norm is 1, a float",
    )
    yield Case("the same with other tokens", _inputs(rng, 8, 3, 5)).holds(
        "What is measured is the spectral norm of the Jacobian of its last state with respect to "
        "its first, the state after token 0"
    )
    yield Case("three tokens", _inputs(rng, 3, 2, 4)).holds(
        "X: tokens, one a row, (T, d), T at least 3. h_0: (d_h,). W_xh: (d, d_h). W_hh: (d_h, "
        "d_h). b: (d_h,)",
        "What is measured…",
    )
    yield Case("as many tokens as hidden units", _inputs(rng, 5, 2, 5)).holds("X: tokens…")
    yield Case("a larger W_hh: the gain is below 1", _scaled(_inputs(rng, 7, 3, 4), 5.0)).holds(
        "It lies between 1/4 and 8; below it the norm is smaller, and a little above it larger"
    )
    yield Case("a smaller W_hh: the gain is near 8", _found_at(7.7, _inputs(rng, 6, 2, 4))).holds(
        "X: tokens…", "The network…", "It lies between…"
    )
    yield Case("tokens as wide as the state", _inputs(rng, 6, 4, 4))


@critical_gain.hidden
def _(rng):
    T, d, d_h = (int(size) for size in rng.permutation([4, 5, 6]))
    yield Case("other sizes", _inputs(rng, T + 2, d, d_h)).holds("What is measured…")
    yield Case("three tokens", _inputs(rng, 3, d, d_h))
    yield Case("as many tokens as hidden units", _inputs(rng, d_h, d, d_h))
    yield Case("a larger W_hh: the gain is near 1/4", _found_at(0.26, _inputs(rng, T + 1, d, d_h)))


def _inputs(rng: np.random.Generator, T: int, d: int, d_h: int) -> tuple[np.ndarray, ...]:
    """A random network and a sentence, drawn until the gain is one that a search surely finds.

    The norm passes 1 steeply and only once, so that searches with small and with large steps find
    the same, and the gain is not what the mistakes below find by chance.
    """
    while True:
        X, h_0 = rng.normal(size=(T, d)), rng.uniform(-0.5, 0.5, size=d_h)
        W_xh, W_hh = rng.normal(size=(d, d_h)) / d**0.5, rng.normal(size=(d_h, d_h)) / d_h**0.5
        b = rng.uniform(-0.3, 0.3, size=d_h)
        network = X, h_0, W_xh, W_hh / np.linalg.norm(W_hh, 2), b
        gains = np.geomspace(1, 5, 34)  # steps of 5 %
        norms = np.array([_norm(network, gain) for gain in gains])
        first = int(np.argmax(norms >= 1))
        steep = 4 < first < 30 and norms[first - 2] < 0.93 and norms[first + 1] > 1.05
        if steep and _once(network, gains[first + 2]) and _told_apart(network, gains[first]):
            return network


def _norm(network: tuple[np.ndarray, ...], gain: float) -> float:
    X, h_0, W_xh, W_hh, b = network
    H, _ = solutions.encode(X, h_0, W_xh, gain * W_hh, b)
    return float(solutions.jacobian_norms(H, gain * W_hh)[0])


def _once(network: tuple[np.ndarray, ...], highest: float) -> bool:
    """Return True if the norm is first below 1 and then above it, all the way up to a gain."""
    above = [_norm(network, gain) >= 1 for gain in np.geomspace(1, highest, 400)]
    return above == sorted(above)


def _told_apart(network: tuple[np.ndarray, ...], gain: float) -> bool:
    wrongs = [norm_of_the_matrix, eigenvalue_of_the_matrix, states_not_read_again, slope_forgotten]
    if len(network[0]) == 3:  # over more steps, one direction outgrows all others
        wrongs.append(all_directions)
    return all(abs(wrong(*network) / gain - 1) > 0.08 for wrong in wrongs)


def _scaled(network: tuple[np.ndarray, ...], factor: float) -> tuple[np.ndarray, ...]:
    X, h_0, W_xh, W_hh, b = network
    return X, h_0, W_xh, factor * W_hh, b


def _found_at(gain: float, network: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """The network with a W_hh that brings its gain there."""
    return _scaled(network, solutions.critical_gain(*network) / gain)


critical_gain.mutant("no gain above 6", "0.25, 8", "0.25, 6")
critical_gain.mutant("no gain below 0.3", "0.25, 8", "0.3, 8")
critical_gain.lets_through("T of 1 refused", "there are three tokens or more")
critical_gain.lets_through(
    "a tanh that overflows", "no sum on the way is large: the tokens are of ordinary size"
)
