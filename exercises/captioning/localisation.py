"""The exercise `localisation`: the share of the weight that lies inside a box."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import captioning as solutions

localisation = Declaration(
    solutions.localisation,
    points=3,
    difficulty=3,
    minutes=20,
    help=(
        "How much of each row of cells does the box cover, and how much of each column? The "
        "product of the two is the area of a cell inside the box.",
        "The part of a cell from line i to line i + 1 that lies between `top` and `bottom` has the "
        "length min(i + 1, bottom) - max(i, top), and 0 if that is negative. An outer product "
        "makes the areas.",
        "Section “Where does it look?”.",
    ),
)


@localisation.right
def cell_by_cell(weights, box, grid_shape):
    H, W = grid_shape
    top, left, bottom, right = np.moveaxis(np.asarray(box, dtype=float), -1, 0)
    total = np.zeros(np.broadcast_shapes(weights.shape[:-1], box.shape[:-1]))
    for i in range(H):
        for j in range(W):
            height = np.maximum(np.minimum(i + 1, bottom) - np.maximum(i, top), 0)
            width = np.maximum(np.minimum(j + 1, right) - np.maximum(j, left), 0)
            total = total + weights[..., W * i + j] * height * width
    return total


@localisation.right
def einsum(weights, box, grid_shape):
    H, W = grid_shape
    grid = weights.reshape(*weights.shape[:-1], H, W)
    box = np.asarray(box, dtype=float)[..., None]
    rows = np.diff(np.clip(np.arange(H + 1), box[..., 0, :], box[..., 2, :]))
    columns = np.diff(np.clip(np.arange(W + 1), box[..., 1, :], box[..., 3, :]))
    return np.einsum("...hw,...h,...w->...", grid, rows, columns)


@localisation.right
def running_sums(weights, box, grid_shape):
    H, W = grid_shape
    shape = np.broadcast_shapes(weights.shape[:-1], box.shape[:-1])
    weights = np.broadcast_to(weights, (*shape, H * W)).reshape(-1, H, W)
    box = np.broadcast_to(box, (*shape, 4)).reshape(-1, 4)
    shares = []
    for grid, (top, left, bottom, right) in zip(weights, box, strict=True):
        down = np.concatenate([np.zeros((1, W)), np.cumsum(grid, axis=0)])
        rows = [np.interp([top, bottom], np.arange(H + 1), column) for column in down.T]
        across = np.concatenate([[0.0], np.cumsum([b - a for a, b in rows])])
        a, b = np.interp([left, right], np.arange(W + 1), across)
        shares.append(b - a)
    return np.array(shares).reshape(shape)


@localisation.right
def divided_by_the_sum(weights, box, grid_shape):
    lines = np.arange(max(grid_shape) + 1)
    lengths = []
    for size, low, high in zip(grid_shape, (0, 1), (2, 3), strict=True):
        clipped = np.minimum(np.maximum(lines[: size + 1], box[..., [low]]), box[..., [high]])
        lengths.append(clipped[..., 1:] - clipped[..., :-1])
    inside = (lengths[0][..., :, None] * lengths[1][..., None, :]).reshape(*box.shape[:-1], -1)
    return (weights * inside).sum(axis=-1) / weights.sum(axis=-1)


@localisation.right
def plain(weights, box, grid_shape):
    def covered(low, high, size):
        cells = np.arange(size)
        lengths = np.minimum(cells + 1, high) - np.maximum(cells, low)
        return np.clip(lengths, 0, None)

    top, left, bottom, right = np.moveaxis(np.asarray(box, dtype=float), -1, 0)[..., None]
    rows, columns = covered(top, bottom, grid_shape[0]), covered(left, right, grid_shape[1])
    area = rows[..., :, None] * columns[..., None, :]
    area = area.reshape(*box.shape[:-1], -1)
    return np.sum(weights * area, axis=-1)


localisation.wrong(
    "the last row and column counted, too",
    "A box from line 0 to line 2: how many rows of cells does it cover, 2 or 3?",
    plain.edit("np.minimum(cells + 1, high)", "np.minimum(cells, high) + 1"),
)
localisation.wrong(
    "columns before rows",
    "Which comes first in the box, top or left? Try a grid that is not square.",
    plain.edit("top, left, bottom, right", "left, top, right, bottom"),
)
localisation.wrong(
    "height and width for bottom and right",
    "Are the last two numbers of the box lines of the grid, or lengths?",
    plain.edit("rows, columns =", "bottom, right = top + bottom, left + right\nrows, columns ="),
)
localisation.wrong(
    "every touched cell counts in full",
    "A box covers a tenth of a cell. How much of the cell's weight do you count?",
    plain.edit("np.clip(lengths, 0, None)", "(cells + 1 > low) & (cells < high)"),
)
localisation.wrong(
    "only fully covered cells count",
    "A box covers nine tenths of a cell. How much of the cell's weight do you count?",
    plain.edit("np.clip(lengths, 0, None)", "(cells >= low) & (cells + 1 <= high)"),
)
localisation.wrong(
    "a cell counts if its centre is inside",
    "Move the edge of the box by a tiny step across the centre of a cell. By how much should the "
    "share change?",
    plain.edit("np.clip(lengths, 0, None)", "(cells + 0.5 >= low) & (cells + 0.5 < high)"),
)
localisation.wrong(
    "down the columns",
    "Weight 1 belongs to the cell on the right of the first one. Which cell do you take it for?",
    plain.edit(
        "rows[..., :, None] * columns[..., None, :]", "columns[..., :, None] * rows[..., None, :]"
    ),
)
localisation.wrong(
    "divided by the area",
    "All weight lies inside the box. Is your share 1?",
    plain.edit(
        "np.sum(weights * area, axis=-1)",
        "np.sum(weights * area, axis=-1) / np.maximum(area.sum(axis=-1), 1e-9)",
    ),
)
localisation.wrong(
    "only the strongest place",
    "Does your share change when weight moves from one of the other places to another?",
    plain.edit(
        "return np.sum", "weights = np.eye(area.shape[-1])[weights.argmax(axis=-1)]\nreturn np.sum"
    ),
)
localisation.wrong(
    "negative lengths",
    "How long is the overlap of the intervals 0 to 1 and 3 to 4? What does your formula say?",
    plain.edit("np.clip(lengths, 0, None)", "lengths"),
)


@localisation.public
def _(rng):
    hand = np.array([[0.1, 0.2, 0.3], [0.0, 0.3, 0.1]])
    yield Case(
        "a box that covers two whole cells", (hand.ravel(), np.array([0.0, 1.0, 2.0, 2.0]), (2, 3))
    ).holds(
        "weights: (..., H * W), over the cells of a grid in reading order; each row sums to 1. "
        "grid_shape: (H, W).",
        "box: (..., 4), top, left, bottom and right, in cells: from row line `top` to row line "
        "`bottom`, where 0 is the top edge of the grid and H its bottom edge; columns likewise. "
        "Top is never below bottom, nor left beyond right.",
    )
    yield Case(
        "a box that covers parts of cells", (hand.ravel(), np.array([0.5, 0.25, 2.0, 1.5]), (2, 3))
    ).holds(
        "Fractions are meant: of a cell that lies partly inside, the part of its weight counts "
        "that its area says."
    )
    yield Case(
        "a box inside one cell", (_weights(rng, (20,)), np.array([1.2, 2.1, 1.7, 2.4]), (4, 5))
    ).holds("Fractions are…")
    yield Case(
        "a square grid, whole cells", (_weights(rng, (16,)), np.array([1, 0, 4, 2]), (4, 4))
    ).holds("box: (...…")
    yield Case("a batch, a box for each, float32", _many(rng, (3,), (4, 6), np.float32)).holds(
        "weights: (...…"
    )
    weights = _weights(rng, (2, 3, 12))
    yield Case("many words, one box", (weights, np.array([0.4, 1.0, 2.3, 2.6]), (4, 3))).holds(
        "Leading axes broadcast: one box may stand for many rows of weights, and many boxes may "
        "meet one row."
    )
    yield Case(
        "a box over the edge", (_weights(rng, (12,)), np.array([-1, 1.5, 2.5, 9]), (3, 4))
    ).holds("What is outside the grid counts for nothing, and a box with no area gives 0.")
    yield Case(
        "a box with no area", (_weights(rng, (12,)), np.array([1.5, 0.0, 1.5, 3.0]), (3, 4))
    ).holds("What is outside…")
    beside = np.array([[-3.0, 1.0, -1.0, 2.0], [1.0, 4.5, 2.0, 7.0], [3.0, 0.0, 5.0, 4.0]])
    yield Case(
        "one row of weights, three boxes outside the grid", (_weights(rng, (12,)), beside, (3, 4))
    ).holds("What is outside…")
    yield Case(
        "one row of weights, many boxes", (_weights(rng, (24,)), _box(rng, (5,), 4, 6), (4, 6))
    ).holds("Leading axes…")
    yield Case("the whole grid", (_weights(rng, (2, 12)), np.array([0, 0, 3, 4]), (3, 4))).holds(
        "box: (...…"
    )
    yield Case(
        "a batch of one, a grid of one cell",
        (np.ones((1, 1)), np.array([[0.2, 0.5, 1, 2]]), (1, 1)),
    ).holds("Returns an array of shape (...).")
    yield Case("three leading axes", _many(rng, (2, 1, 3), (3, 4))).holds("weights: (...…")
    sliver = np.array([0.5, 1.0, 0.5 + 1e-6, 3.0])
    yield Case("a sliver of a box", (_weights(rng, (12,)), sliver, (3, 4))).holds("Fractions are…")


@localisation.hidden
def _(rng):
    H, W = (int(n) for n in rng.permutation([3, 4, 5, 6])[:2])
    yield Case("one box", (_weights(rng, (H * W,)), _box(rng, (), H, W), (H, W))).holds(
        "weights: (...…"
    )
    whole = np.array([1.0, 0.0, H, 2.0])
    yield Case("whole cells, a square grid", (_weights(rng, (H * H,)), whole, (H, H)))
    yield Case("a batch, a box for each", _many(rng, (4,), (H, W)))
    yield Case("two leading axes, float32", _many(rng, (2, 3), (H, W), np.float32)).holds(
        "weights: (...…"
    )
    weights = _weights(rng, (5, H * W))
    yield Case("many words, one box", (weights, _box(rng, (), H, W), (H, W)))
    over = _box(rng, (), H, W) + np.array([-4, 0, 0, 7])
    yield Case("a box over the edge", (_weights(rng, (H * W,)), over, (H, W)))
    flat = _box(rng, (3,), H, W)[:, [0, 1, 2, 1]]
    yield Case(
        "boxes with no area, one row of weights", (_weights(rng, (H * W,)), flat, (H, W))
    ).holds("What is outside…")
    beside = _box(rng, (), H, W) + np.array([H, 0, H, 0])
    yield Case("a box outside the grid", (_weights(rng, (H * W,)), beside, (H, W))).holds(
        "What is outside…"
    )
    weights, boxes = _weights(rng, (H * W,)), _box(rng, (4,), H, W)
    yield Case("one row of weights, many boxes", (weights, boxes, (H, W)))
    column = _box(rng, (1,), H, 1), (H, 1)
    yield Case("a batch of one, a grid of one column", (_weights(rng, (1, H)), *column)).holds(
        "Returns an…"
    )


def _weights(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: type = np.float64
) -> np.ndarray:
    """Random rows that sum to 1."""
    weights = rng.exponential(size=shape)
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(dtype)


def _box(rng: np.random.Generator, batch: tuple[int, ...], H: int, W: int) -> np.ndarray:
    """Random boxes inside the grid, wider than a cell and not on its lines."""
    start = rng.uniform(0, 1, size=(*batch, 2))
    size = rng.uniform(1.1, 1.9, size=(*batch, 2))
    start[..., 1] += W - 3
    return np.concatenate([start, start + size], axis=-1)


def _many(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    grid: tuple[int, int],
    dtype: type = np.float64,
) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    weights = _weights(rng, (*batch, grid[0] * grid[1]), dtype)
    return weights, _box(rng, batch, *grid).astype(dtype), grid


localisation.lets_through(
    "inputs rounded to 1e-12", "a share so tiny drowns in the rounding of a running sum"
)
