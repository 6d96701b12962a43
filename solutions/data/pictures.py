"""Pictures of coloured shapes with their captions, and the place of each shape that a word names.

A picture has two or three shapes of different colours. A relation holds between two of them if they
share rows or columns, but not both (`relation`). The caption follows the relations:

* two shapes, the upper or the left one first: "a red circle above a blue square";
* three shapes in a bend, with no relation between the two ends, from the end further left:
  "a red circle above a blue square left of a green triangle", "... below ... left of ...".

So each picture has exactly one caption, and the caption states every relation.

A combination is two shapes and the relation between them ("B below A" is "A above B"). The row
numbers of the two shapes in `SHAPES` are added, and 1 for "left of". If the sum is a multiple of
`TEST_SHARE`, the combination is for testing, else for training. All combinations of a picture are
of the same split. So training has each word of a test caption, but none of its combinations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .translation import Split, Vocabulary
from .translation.draws import Draws
from .translation.vocabulary import PAD, START, STOP

SIDE = 48  # the height and the width of a picture, in pixels
SMALLEST, LARGEST = 11, 19  # the bounds of a shape's height and width, which are equal
GAP = 2  # the fewest pixels between two shapes, in rows or in columns
NOISE = 0.05  # the standard deviation of the noise on each value
BACKGROUND = (0.1, 0.1, 0.1)
COLOURS = {  # colour-blind-safe: the red is Tol's, the others are Okabe and Ito's
    "red": (0.8, 0.2, 0.067),
    "yellow": (0.941, 0.894, 0.259),
    "green": (0.0, 0.620, 0.451),
    "blue": (0.0, 0.447, 0.698),
    "pink": (0.8, 0.475, 0.655),
}
KINDS = ("circle", "square", "triangle", "cross")
SHAPES = tuple((colour, kind) for colour in COLOURS for kind in KINDS)
TEST_SHARE = 7  # one combination in seven is kept for testing
VOCABULARY = Vocabulary(("a", *COLOURS, *KINDS, "above", "below", "left", "of"))

_SWAY = 2  # the most pixels between a shape's middle and the lines through its neighbours' middles
_INNER = range(SMALLEST // 2, SIDE - SMALLEST // 2)
_LINES = tuple(pair for pair in permutations(_INNER, 2) if abs(pair[0] - pair[1]) >= SMALLEST)


class Box(NamedTuple):
    """The box of a shape, in pixels: rows top to bottom - 1, columns left to right - 1."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """An image, the tokens of its caption, and for each token the box of the shape it names.

    `image` (3, 48, 48) is float32 from 0 to 1: red, green, blue; rows from the top. `boxes` has the
    box of the shape that each colour or kind names, and None for an article or a relation.
    """

    image: np.ndarray
    caption: tuple[str, ...]
    boxes: tuple[Box | None, ...]


@dataclass(frozen=True, slots=True)
class PictureBatch:
    """B pictures, captions padded on the right with the id of [PAD].

    `images` (B, 3, 48, 48) float32. `targets` (B, m + 2) int64, from [START] to [STOP]: the decoder
    reads `targets[:, :-1]` and predicts `targets[:, 1:]`, whose column i is caption token i.
    `boxes` (B, m, 4) int64: token i's box, or four zeros (an empty box) if it names no shape.
    """

    images: np.ndarray
    targets: np.ndarray
    boxes: np.ndarray


def sample_pictures(n: int, rng: np.random.Generator, split: Split = "train") -> list[Picture]:
    """Return `n` pictures, half with two shapes and half with three.

    The same state of `rng` gives the same pictures. `rng` is read in blocks, so two calls do not
    equal a larger call. Raises ValueError for a negative `n` or an unknown split.
    """
    if split not in {"train", "test"}:
        raise ValueError(f"split must be 'train' or 'test'; got {split!r}")
    if n < 0:
        raise ValueError(f"n must not be negative; got {n}")
    draw = Draws(rng)
    return [_picture(draw, rng, split) for _ in range(n)]


def make_batch(pictures: Sequence[Picture]) -> PictureBatch:
    """Return `pictures`, at least one, as a batch. Raises ValueError, and as `check_image` does."""
    if not pictures:
        raise ValueError("a batch needs at least one picture")
    longest = max(len(picture.caption) for picture in pictures)
    targets = np.full((len(pictures), longest + 2), PAD, dtype=np.int64)
    boxes = np.zeros((len(pictures), longest, 4), dtype=np.int64)
    for i, picture in enumerate(pictures):
        check_image(picture.image)
        m = len(picture.caption)
        targets[i, : m + 2] = START, *VOCABULARY.encode(picture.caption), STOP
        boxes[i, :m] = [box or (0, 0, 0, 0) for box in picture.boxes]
    return PictureBatch(np.stack([picture.image for picture in pictures]), targets, boxes)


def check_image(image: np.ndarray) -> None:
    """Check that the captioner can read `image`: (3, 48, 48), float32, from 0 to 1.

    Raises TypeError for another type, and ValueError for another shape or range, or for NaN.
    """
    if not isinstance(image, np.ndarray) or image.dtype != np.float32:
        kind = getattr(image, "dtype", type(image).__name__)
        raise TypeError(f"an image is a NumPy array of float32, from 0 to 1; got {kind}")
    if image.shape != (3, SIDE, SIDE):
        raise ValueError(
            f"an image has the shape (3, {SIDE}, {SIDE}): channels, rows, columns; got "
            f"{image.shape}. Resize it, and move the channels to the front."
        )
    if not (image.min() >= 0 and image.max() <= 1):  # `not`, because a NaN compares False
        raise ValueError(f"an image has values from 0 to 1; got {image.min()} to {image.max()}")


def box_to_grid(boxes: ArrayLike, grid_shape: tuple[int, int]) -> np.ndarray:
    """Return the share of each grid cell that lies inside a box: (..., H, W), float64, 0 to 1.

    `boxes` (..., 4): top, left, bottom, right in pixels, half-open; an empty box gives zeros.
    `grid_shape` (H, W): the grid of features laid over the picture.
    Raises ValueError for boxes of another shape or not inside the picture, and for an empty grid.
    """
    edges = np.asarray(boxes, dtype=np.float64)
    if edges.shape[-1:] != (4,):
        raise ValueError(f"boxes have the shape (..., 4); got {edges.shape}")
    if min(grid_shape) < 1:
        raise ValueError(f"a grid has at least one row and one column; got {grid_shape}")
    starts, ends = edges[..., :2], edges[..., 2:]  # (..., 2) each: rows, columns
    if not np.all((starts >= 0) & (starts <= ends) & (ends <= SIDE)):
        raise ValueError(f"a box is top, left, bottom, right, in pixels from 0 to {SIDE}")
    shares = []
    for i, cells in enumerate(grid_shape):
        lines = np.linspace(0, SIDE, cells + 1)
        inside = np.clip(lines, starts[..., i, None], ends[..., i, None])  # (..., cells + 1)
        shares.append(np.diff(inside) * cells / SIDE)  # (..., cells)
    rows, columns = shares
    return rows[..., :, None] * columns[..., None, :]


def relation(first: Box, second: Box) -> str:
    """Return the relation of `first` to `second`: "above", "below", "left of" or "right of".

    The first two hold if the boxes share columns and no row, the last two if they share rows and no
    column. If no relation holds, the result is empty.
    """
    rows, columns = _gaps(first, second)
    if rows >= 0 > columns:
        return "above" if first.top < second.top else "below"
    if columns >= 0 > rows:
        return "left of" if first.left < second.left else "right of"
    return ""


def _gaps(first: Box, second: Box) -> tuple[int, int]:
    """Return the pixels between two boxes, in rows and in columns; negative if they overlap."""
    (top, left), (bottom, right) = map(max, first[:2], second[:2]), map(min, first[2:], second[2:])
    return top - bottom, left - right


def _picture(draw: Draws, rng: np.random.Generator, split: Split) -> Picture:
    boxes = _places(draw, 2 + draw.below(2))
    relations = [relation(*pair) for pair in pairwise(boxes)]
    shapes = _shapes(draw, relations, split)
    caption: list[str] = []
    named: list[Box | None] = []
    for shape, box, words in zip(shapes, boxes, [*map(str.split, relations), []], strict=True):
        caption += ["a", *SHAPES[shape], *words]
        named += [None, box, box, *[None] * len(words)]
    return Picture(_paint(rng, shapes, boxes), tuple(caption), tuple(named))


def _places(draw: Draws, count: int) -> list[Box]:
    """Return the boxes of `count` shapes in the order of the caption."""
    while True:
        (row, other_row), (column, other_column) = draw.choice(_LINES), draw.choice(_LINES)
        middles = [(other_row, column), (row, column), (row, other_column)]
        if count == 2:
            middles.pop(2 * draw.below(2))
            middles.sort()
        elif column > other_column:
            middles.reverse()
        boxes = [_box(draw, *middle) for middle in middles]
        if not all(min(box) >= 0 and max(box) <= SIDE for box in boxes):
            continue
        apart = all(max(_gaps(*pair)) >= GAP for pair in pairwise(boxes))
        if apart and (count == 2 or min(_gaps(boxes[0], boxes[2])) >= GAP):
            return boxes


def _box(draw: Draws, row: int, column: int) -> Box:
    size = SMALLEST + draw.below(LARGEST - SMALLEST + 1)
    top, left = (c - size // 2 + draw.below(2 * _SWAY + 1) - _SWAY for c in (row, column))
    return Box(top, left, top + size, left + size)


def _shapes(draw: Draws, relations: list[str], split: Split) -> list[int]:
    """Return the rows of shapes of different colours whose combinations belong to `split`."""
    while True:
        shapes = [draw.below(len(SHAPES)) for _ in range(len(relations) + 1)]
        sums = [shapes[i] + (r == "left of") + shapes[i + 1] for i, r in enumerate(relations)]
        different = len({SHAPES[shape][0] for shape in shapes}) == len(shapes)
        if different and all((n % TEST_SHARE == 0) == (split == "test") for n in sums):
            return shapes


@cache
def _mask(kind: str, size: int) -> np.ndarray:
    """Return the pixels of a shape, shape (size, size); it touches all four sides."""
    across = (2 * np.arange(size) + 1) / size - 1  # the middles of the pixels, from -1 to 1
    y, x = across[:, None], across[None, :]
    if kind == "circle":
        return x**2 + y**2 <= 1
    if kind == "triangle":
        return np.abs(x) <= (y + 1 + 1 / size) / 2 + 1e-9  # row i is as wide as (i + 1) / size
    if kind == "cross":
        return (np.abs(x) < 1 / 3) | (np.abs(y) < 1 / 3)
    return np.ones((size, size), dtype=bool)


def _paint(rng: np.random.Generator, shapes: list[int], boxes: list[Box]) -> np.ndarray:
    """Return the image (3, 48, 48) of the shapes, with noise."""
    image = rng.standard_normal((3, SIDE, SIDE), dtype=np.float32) * np.float32(NOISE)
    image += np.array(BACKGROUND, dtype=np.float32)[:, None, None]
    for shape, box in zip(shapes, boxes, strict=True):
        colour, kind = SHAPES[shape]
        contrast = np.subtract(COLOURS[colour], BACKGROUND, dtype=np.float32)
        part = image[:, box.top : box.bottom, box.left : box.right]  # (3, size, size), a view
        part += contrast[:, None, None] * _mask(kind, box.bottom - box.top)
    return image.clip(0, 1)
