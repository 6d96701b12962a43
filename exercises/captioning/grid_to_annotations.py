"""The exercise `grid_to_annotations`: from a grid of features to a set of vectors."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import captioning as solutions

grid_to_annotations = Declaration(
    solutions.grid_to_annotations,
    points=1,
    difficulty=1,
    minutes=8,
    help=(
        "Turn the two axes of the grid into one, and put the channels last.",
        "It takes two steps: a reshape that leaves the channels where they are, and a swap of two "
        "axes. The other order works, too: first move the channels to the end.",
        "Section “A picture is a set, too”.",
    ),
)


@grid_to_annotations.right
def loop(features):
    H, W = features.shape[-2:]
    rows = [features[..., i, j] for i in range(H) for j in range(W)]
    return np.stack(rows, axis=-2)


@grid_to_annotations.right
def swapped(features):
    C, H, W = features.shape[-3:]
    flat = features.reshape(*features.shape[:-3], C, H * W)
    return np.swapaxes(flat, -1, -2)


@grid_to_annotations.right
def einsum(features):
    C, H, W = features.shape[-3:]
    flat = features.reshape(-1, C, H * W)
    return np.einsum("bcl->blc", flat).reshape(*features.shape[:-3], H * W, C)


grid_to_annotations.wrong(
    "reshaped without moving the channels",
    "A reshape keeps the order of the numbers in memory. Are the channels of one place neighbours "
    "there? Try an array that counts 0, 1, 2, ...",
    swapped.edit("np.swapaxes(flat, -1, -2)", "flat.reshape(*features.shape[:-3], H * W, C)"),
)
grid_to_annotations.wrong(
    "channels first",
    "Which axis of your result counts the places? Each annotation should be one row.",
    swapped.edit("np.swapaxes(flat, -1, -2)", "flat"),
)
grid_to_annotations.wrong(
    "down the columns",
    "Which place is your row 1: the place to the right of the first one, or the place below it?",
    swapped.edit("features.reshape", "np.swapaxes(features, -1, -2).reshape"),
)
grid_to_annotations.wrong(
    "still a grid",
    "A set of annotations has one axis for all places. How many axes for places does your result "
    "have?",
    swapped.edit("np.swapaxes(flat, -1, -2)", "np.moveaxis(features, -3, -1)"),
)
grid_to_annotations.wrong(
    "whole batch in one set",
    "Your answer is right for one picture. When there are two pictures, which of them do the rows "
    "of your result belong to?",
    swapped.edit("np.swapaxes(flat, -1, -2)", "np.swapaxes(flat, -1, -2).reshape(-1, C)"),
)
grid_to_annotations.wrong(
    "channels averaged away",
    "How many numbers does a place have before, and how many after?",
    swapped.edit("np.swapaxes(flat, -1, -2)", "flat.mean(axis=-2)[..., None]"),
)
grid_to_annotations.wrong(
    "bottom row first",
    "Which row of the grid is row 0: the top one or the bottom one?",
    swapped.edit("features.reshape", "features[..., ::-1, :].reshape"),
)


@grid_to_annotations.public
def _(rng):
    yield Case("two channels on a grid of 2 by 3", (np.arange(12.0).reshape(2, 2, 3),)).holds(
        "They are in reading order: the first row of the grid from left to right, then the second."
    )
    yield Case("as many channels as rows and columns", (rng.normal(size=(3, 3, 3)),))
    yield Case("a batch", (rng.normal(size=(2, 4, 3, 5)),)).holds(
        "features: (..., C, H, W), C channels on a grid of H rows and W columns."
    )
    yield Case("float32, two leading batch axes", (_features(rng, (2, 3, 2, 4, 3)),)).holds(
        "features: (...…"
    )
    yield Case(
        "three leading batch axes, tiny features", (1e-6 * rng.normal(size=(2, 1, 3, 3, 2, 4)),)
    ).holds("features: (...…")
    yield Case("a batch of one, a grid of one row", (rng.normal(size=(1, 3, 1, 4)),)).holds(
        "Returns the annotations, one a row, of shape (..., H * W, C)."
    )
    yield Case("one channel on a grid of one column", (rng.normal(size=(1, 4, 1)),)).holds(
        "Returns the…"
    )
    yield Case("another batch of the same shape", (rng.normal(size=(2, 4, 3, 5)),)).holds(
        "features: (...…"
    )


@grid_to_annotations.hidden
def _(rng):
    C, H, W, batch = rng.permutation([2, 3, 4, 5])
    yield Case("all sizes differ", (rng.normal(size=(C, H, W)),)).holds("features: (...…")
    yield Case("a square grid", (rng.normal(size=(C, H, H)),)).holds("They are…")
    yield Case("a batch, float32", (_features(rng, (batch, C, H, W)),))
    yield Case("a batch as large as the grid is high and wide", (rng.normal(size=(H, C, H, H)),))
    yield Case("two leading batch axes", (rng.normal(size=(2, batch, C, H, W)),))
    yield Case("a batch of one, a grid of one column", (rng.normal(size=(1, C, H, 1)),)).holds(
        "Returns the…"
    )
    yield Case("one channel on a grid of one row", (rng.normal(size=(1, 1, W)),)).holds(
        "Returns the…"
    )


def _features(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.normal(size=shape).astype(np.float32)
