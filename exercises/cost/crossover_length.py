"""The exercise `crossover_length`: from which length on one of two measured costs is larger."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import cost as solutions

crossover_length = Declaration(
    solutions.crossover_length,
    points=3,
    difficulty=2,
    minutes=20,
    kind=Kind.MEASURE,
    tolerance=0.02,
    help=(
        "Find the two neighbouring lengths between which the order changes, and then the point "
        "between them.",
        "Take the logarithm of the length, and the logarithm of the quotient of the costs. "
        "Plotted against the first, the second is a straight line between two measured lengths: "
        "where is it 0?",
        "Section “Count, then measure”: both axes of its figure are logarithmic.",
    ),
)


@crossover_length.right
def bisection(lengths, first, second):
    after = next(i for i in range(len(lengths)) if first[i] >= second[i])
    low, high = lengths[after - 1], lengths[after]
    logs = np.log(lengths)
    for _ in range(60):
        middle = (low * high) ** 0.5
        one = np.interp(np.log(middle), logs, np.log(first))
        other = np.interp(np.log(middle), logs, np.log(second))
        low, high = (middle, high) if one < other else (low, middle)
    return float(middle)


@crossover_length.right
def fine_grid(lengths, first, second):
    grid = np.linspace(np.log(lengths[0]), np.log(lengths[-1]), 20_001)
    one = np.interp(grid, np.log(lengths), np.log(first))
    other = np.interp(grid, np.log(lengths), np.log(second))
    return float(np.exp(grid[np.flatnonzero(one >= other)[0]]))


@crossover_length.right
def two_lines(lengths, first, second):
    for i in range(len(lengths) - 1):
        if first[i + 1] >= second[i + 1]:
            step = np.log10(lengths[i + 1] / lengths[i])
            rise = np.log10(first[i + 1] / first[i]) / step
            other = np.log10(second[i + 1] / second[i]) / step
            gap = np.log10(second[i] / first[i])
            return float(lengths[i] * 10 ** (gap / (rise - other)))
    raise ValueError("they do not cross")


@crossover_length.wrong(
    "the first length at which it costs more",
    "Between the last length at which the first cost was smaller and your length there is a "
    "factor of 2 or more. Where between them are the costs equal?",
)
def _(lengths, first, second):
    return float(lengths[np.argmax(first >= second)])


@crossover_length.wrong(
    "the measured length that is nearest",
    "May the answer be a length at which nothing was measured?",
)
def _(lengths, first, second):
    return float(lengths[np.argmin(np.abs(np.log(first / second)))])


@crossover_length.wrong(
    "straight lines on plain axes",
    "Is a cost that grows with the square of the length a straight line on plain axes? On which "
    "axes is it one?",
)
def _(lengths, first, second):
    after = int(np.argmax(first >= second))
    ahead = (first - second)[[after - 1, after]]
    sides = lengths[[after - 1, after]]
    return float(sides[0] - ahead[0] * (sides[1] - sides[0]) / (ahead[1] - ahead[0]))


@crossover_length.wrong(
    "one power for all lengths",
    "At short lengths a constant dominates, and at long ones the square. Can one straight line "
    "pass through all the points?",
)
def _(lengths, first, second):
    slope, height = np.polyfit(np.log(lengths), np.log(first / second), 1)
    return float(np.exp(-height / slope))


@crossover_length.wrong("the cost at which they meet", "Is your number a length, or a cost?")
def _(lengths, first, second):
    after = int(np.argmax(first >= second))
    y = np.log(first / second)[[after - 1, after]]
    share = -y[0] / (y[1] - y[0])
    cost = np.log(first[[after - 1, after]])
    return float(np.exp(cost[0] + share * (cost[1] - cost[0])))


@crossover_length.wrong(
    "the logarithm of the length", "Is your number between the first length and the last?"
)
def _(lengths, first, second):
    after = int(np.argmax(first >= second))
    x, y = np.log(lengths[[after - 1, after]]), np.log(first / second)[[after - 1, after]]
    return float(x[0] - y[0] * (x[1] - x[0]) / (y[1] - y[0]))


@crossover_length.wrong(
    "in the middle of two lengths",
    "At the length before the crossing one cost is far larger; at the length after it the two "
    "are nearly equal. To which of the two lengths is the crossing nearer?",
)
def _(lengths, first, second):
    after = int(np.argmax(first >= second))
    return float(np.sqrt(lengths[after - 1] * lengths[after]))


@crossover_length.public
def _(rng):
    yield _case("a square and a line", [10, 1000], [1, 10_000], [20, 2000]).holds(
        "lengths: (m,), above 0, increasing, m at least 2."
    )
    yield _case("twice the length each time", 2 ** np.arange(6, 12), None, None, at=300)
    yield _case("four lengths, far apart", [64, 512, 1024, 8192], None, None, at=100).holds(
        "Between two measured lengths that follow each other, both costs are powers of the "
        "length: straight lines, where both axes are logarithmic."
    )
    yield _case("curves that bend", *_bent(rng)).holds("Between two…")
    yield _case(
        "a bump before they cross", [32, 64, 128, 256, 512], [1, 5, 4, 30, 99], [9] * 5
    ).holds(
        "At the first length the first cost is the smaller one, at the last length the larger "
        "one, and they cross once."
    )
    yield _case(
        "equal at a measured length", [10, 40, 160, 640], [1, 4, 16, 99], [9, 9, 16, 16]
    ).holds("Returns the length at which they are equal, a float.")
    yield _case("a cost that falls", [16, 64, 256, 1024], [2, 5, 9, 30], [80, 40, 20, 10]).holds(
        "At the first…"
    )
    yield _case("lengths that are not powers of 2", [7, 90, 300, 5000], None, None, at=2000).holds(
        "lengths: (m,)…"
    )
    yield _case("a crossing near the end", 2 ** np.arange(6, 12), None, None, at=1900).holds(
        "Returns the…"
    )
    lengths, first, second = _bent(rng)
    yield _case("in microseconds", lengths, first * 1e6, second * 1e6).holds(
        "first and second: (m,), the costs at these lengths, above 0, in any unit."
    )
    yield _case("tiny costs", lengths, first * 1e-12, second * 1e-12).holds("first and…")


@crossover_length.hidden
def _(rng):
    for _ in range(3):
        yield _case("curves that bend", *_bent(rng))
    lengths = np.cumprod(rng.integers(2, 9, size=5)) * 8
    at = float(np.sqrt(lengths[1] * lengths[2]))
    yield _case("powers of the length", lengths, None, None, at=at * rng.uniform(0.8, 1.25)).holds(
        "Between two…"
    )
    between = float(lengths[2] ** 0.7 * lengths[3] ** 0.3)
    yield _case("other powers", lengths, None, None, at=between, power=1.7)
    yield _case("two lengths", lengths[[0, -1]], None, None, at=at).holds("lengths: (m,)…")


def _case(
    note: str,
    lengths: list[int] | np.ndarray,
    first: list[float] | np.ndarray | None,
    second: list[float] | np.ndarray | None,
    at: float = 0.0,
    power: float = 2.0,
) -> Case:
    """Two costs; without them, powers of the length, 0.9 the lower one, that meet at `at`."""
    n = np.asarray(lengths, dtype=float)
    if first is None or second is None:
        first, second = 3e-4 * (n / at) ** power, 3e-4 * (n / at) ** 0.9
    costs = (np.asarray(one, dtype=float) for one in (first, second))
    return Case(note, (n, *costs))


def _bent(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A square with a constant, as a layer has it, and a line with another one."""
    lengths = 64.0 * 4 ** np.arange(5)
    meet = rng.uniform(500, 5000)
    first = 2e-4 + 1e-9 * lengths**2
    each = (2e-4 + 1e-9 * meet**2 - 5e-5) / meet
    return lengths, first * rng.uniform(0.97, 1.03, size=5), 5e-5 + 1.1 * each * lengths + 2e-4


crossover_length.lets_through("m of 1 refused", "there are two lengths or more")
