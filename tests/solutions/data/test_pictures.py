"""Test that the pictures, read back from their pixels alone, agree with their captions."""

from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from solutions.data.pictures import (
    BACKGROUND,
    COLOURS,
    GAP,
    NOISE,
    SHAPES,
    SIDE,
    VOCABULARY,
    Box,
    Picture,
    box_to_grid,
    check_image,
    make_batch,
    sample_pictures,
)
from solutions.data.translation.vocabulary import PAD, START, STOP, UNKNOWN

SEEDS = st.integers(0, 2**32 - 1)
SPLITS = st.sampled_from(["train", "test"])
PALETTE = np.array([BACKGROUND, *COLOURS.values()])[:, :, None, None]


def objects(image):
    """Find each shape in the pixels, without the caption: the set of its pixels and its colour.

    A shape is a group of neighbouring pixels that are nearer to a colour than to the background.
    """
    nearest = np.square(image - PALETTE).sum(axis=1).argmin(axis=0)  # (48, 48)
    unassigned = set(zip(*np.nonzero(nearest), strict=True))
    result = []
    while unassigned:
        shape, edge = set(), [unassigned.pop()]
        while edge:
            row, column = edge.pop()
            shape.add((int(row), int(column)))
            around = (
                set(product((row - 1, row, row + 1), (column - 1, column, column + 1))) & unassigned
            )
            unassigned -= around
            edge += around
        votes = np.bincount([nearest[pixel] for pixel in shape])
        result.append((shape, list(COLOURS)[votes.argmax() - 1]))
    return result


def bounds(pixels):
    """Return the smallest box that holds all `pixels`."""
    rows, columns = zip(*pixels, strict=True)
    return Box(min(rows), min(columns), max(rows) + 1, max(columns) + 1)


def kind_of(pixels):
    """Return the kind by the corners of the box; the area separates the disc from the cross."""
    top, left, bottom, right = bounds(pixels)
    upper, lower = (top, left) in pixels, (bottom - 1, left) in pixels
    if upper or lower:
        return "square" if upper else "triangle"
    return "circle" if len(pixels) > 0.7 * (bottom - top) * (right - left) else "cross"


def holds(word, first, second):
    """Return True if the box `first` is clearly `word` the box `second`."""
    if word == "below":
        return holds("above", second, first)
    if word == "left of":
        first, second = (Box(*(box[i] for i in (1, 0, 3, 2))) for box in (first, second))
    apart = second.top - first.bottom
    shared = min(first.right, second.right) - max(first.left, second.left)
    return apart >= GAP and 2 * shared >= min(first.right - first.left, second.right - second.left)


def readings(result):
    """Yield every order of the shapes that is true, with relation words between them."""
    words = ["above", "left of"] if len(result) == 2 else ["above", "below", "left of"]
    for order in permutations(result):
        for chain in product(words, repeat=len(order) - 1):
            steps = zip(chain, pairwise(order), strict=True)
            if all(holds(word, first, second) for word, ((_, first), (_, second)) in steps):
                yield order, chain


def parse(caption):
    """Return the shapes (colour, kind) that a caption names, and the relations between them."""
    parts = [part.split() for part in " ".join(caption).removeprefix("a ").split(" a ")]
    return [tuple(part[:2]) for part in parts], [" ".join(part[2:]) for part in parts[:-1]]


def combinations_of(caption):
    """Return the combinations that a caption states, with "below" reversed."""
    shapes, relations = parse(caption)
    return {
        (second, "above", first) if word == "below" else (first, word, second)
        for word, (first, second) in zip(relations, pairwise(shapes), strict=True)
    }


@given(seed=SEEDS, split=SPLITS)
@settings(max_examples=60, deadline=None)
def test_the_pixels_have_one_reading_and_it_is_the_caption(seed, split):
    for picture in sample_pictures(4, default_rng(seed), split):
        result = [((c, kind_of(pixels)), bounds(pixels)) for pixels, c in objects(picture.image)]
        [(order, chain)] = readings(result)
        assert ([shape for shape, _ in order], list(chain)) == parse(picture.caption)
        named = [box for box in picture.boxes if box]
        assert named == [box for _, box in order for _ in range(2)]  # the boxes are tight


@given(seed=SEEDS, split=SPLITS)
@settings(max_examples=40, deadline=None)
def test_images_are_what_the_captioner_reads_and_colours_differ(seed, split):
    for picture in sample_pictures(10, default_rng(seed), split):
        check_image(picture.image)
        colours = [token for token in picture.caption if token in COLOURS]
        assert len(set(colours)) == len(colours) in {2, 3}


@pytest.fixture(scope="module")
def captions():
    return {
        split: [picture.caption for picture in sample_pictures(6000, default_rng(3), split)]
        for split in ("train", "test")
    }


def test_splits_share_words_but_no_combination(captions):
    trained, tested = (
        {combination for caption in captions[split] for combination in combinations_of(caption)}
        for split in ("train", "test")
    )
    assert not trained & tested
    assert not set(captions["train"]) & set(captions["test"])
    possible = {
        (first, word, second)
        for first, word, second in product(SHAPES, ("above", "left of"), SHAPES)
        if first[0] != second[0]
    }
    assert trained | tested == possible  # only the split excludes a combination
    assert 0.1 < len(tested) / len(possible) < 0.2
    for seen in (trained, tested):
        assert {first for first, _, _ in seen} == {second for _, _, second in seen} == set(SHAPES)


def test_all_words_and_forms_of_captions_occur_in_both_splits(captions):
    for split in captions.values():
        assert {token for caption in split for token in caption} == set(VOCABULARY.tokens[4:])
        forms = [tuple(parse(caption)[1]) for caption in split]
        for form in [("above",), ("left of",)]:
            assert 0.2 < forms.count(form) / len(forms) < 0.3
        for word in ("above", "below"):
            for form in [(word, "left of"), ("left of", word)]:
                assert 0.1 < forms.count(form) / len(forms) < 0.15


@given(seed=SEEDS)
@settings(max_examples=20, deadline=None)
def test_the_same_seed_gives_the_same_pictures(seed):
    for once, again in zip(*(sample_pictures(5, default_rng(seed)) for _ in range(2)), strict=True):
        assert (once.caption, once.boxes) == (again.caption, again.boxes)
        assert np.array_equal(once.image, again.image)


def test_every_picture_has_its_own_noise():
    for picture in sample_pictures(20, default_rng(9)):
        outside = np.ones((SIDE, SIDE), dtype=bool)
        for box in filter(None, picture.boxes):
            outside[box.top : box.bottom, box.left : box.right] = False
        # Values below 0 are cut off, so the deviation is a little under NOISE.
        assert 0.9 * NOISE < picture.image[:, outside].std() < NOISE


def test_an_unknown_split_or_a_negative_number_is_refused():
    with pytest.raises(ValueError, match="'train' or 'test'; got 'dev'"):
        sample_pictures(1, default_rng(0), split="dev")
    with pytest.raises(ValueError, match="must not be negative; got -1"):
        sample_pictures(-1, default_rng(0))
    assert sample_pictures(0, default_rng(0)) == []


def test_a_batch_holds_images_captions_and_boxes():
    pictures = sample_pictures(20, default_rng(6))
    batch = make_batch(pictures)
    longest = max(len(picture.caption) for picture in pictures)
    assert batch.images.shape == (20, 3, SIDE, SIDE)
    assert batch.images.dtype == np.float32
    assert batch.targets.shape == (20, longest + 2)
    assert batch.boxes.shape == (20, longest, 4)
    assert batch.targets.dtype == batch.boxes.dtype == np.int64
    for i, picture in enumerate(pictures):
        m = len(picture.caption)
        assert np.array_equal(batch.images[i], picture.image)
        assert VOCABULARY.decode(batch.targets[i]) == picture.caption
        assert (batch.targets[i, 0], batch.targets[i, m + 1]) == (START, STOP)
        assert (batch.targets[i, m + 2 :] == PAD).all()
        for box, row in zip(picture.boxes, batch.boxes[i, :m], strict=True):
            assert tuple(row) == (box or (0, 0, 0, 0))
        assert not batch.boxes[i, m:].any()


def test_a_word_outside_the_vocabulary_is_unknown():
    image = np.zeros((3, SIDE, SIDE), np.float32)
    batch = make_batch([Picture(image, ("a", "hexagon"), (None, None))])
    assert batch.targets.tolist() == [[START, 4, UNKNOWN, STOP]]


def test_a_batch_without_pictures_words_or_valid_images_is_refused():
    with pytest.raises(ValueError, match="at least one picture"):
        make_batch([])
    with pytest.raises(ValueError, match="empty sentence"):
        make_batch([Picture(np.zeros((3, SIDE, SIDE), np.float32), (), ())])
    with pytest.raises(ValueError, match=r"got \(3, 32, 32\)"):
        make_batch([Picture(np.zeros((3, 32, 32), np.float32), ("a",), (None,))])


@pytest.mark.parametrize(
    ("image", "error", "message"),
    [
        (
            np.zeros((3, 48, 47), np.float32),
            ValueError,
            r"channels, rows, columns; got \(3, 48, 47",
        ),
        (np.zeros((48, 48), np.float32), ValueError, r"channels, rows, columns; got \(48, 48\)"),
        (np.zeros((3, SIDE, SIDE)), TypeError, "of float32, from 0 to 1; got float64"),
        ([[[0.0]]], TypeError, "of float32, from 0 to 1; got list"),
    ],
)
def test_an_image_of_another_size_or_type_is_refused(image, error, message):
    with pytest.raises(error, match=message):
        check_image(image)


@pytest.mark.parametrize("value", [-0.01, 1.01, np.nan])
def test_an_image_with_values_outside_0_to_1_is_refused(value):
    image = np.full((3, SIDE, SIDE), 0.5, np.float32)
    check_image(image)
    image[1, 2, 3] = value
    with pytest.raises(ValueError, match="values from 0 to 1; got"):
        check_image(image)


def test_a_box_on_a_grid_by_hand():
    shares = box_to_grid((8, 4, 20, 16), (6, 6))  # cells of 8 pixels
    expected = np.zeros((6, 6))
    expected[1, :2] = 0.5, 1
    expected[2, :2] = 0.25, 0.5
    assert np.allclose(shares, expected)
    assert np.allclose(box_to_grid((0, 12, 24, 48), (2, 1)), [[0.75], [0]])


def pixel_boxes():
    """Make boxes from two rows and two columns, in order; they may be empty."""
    ends = st.tuples(st.integers(0, SIDE), st.integers(0, SIDE)).map(sorted)
    return st.tuples(ends, ends).map(lambda e: (e[0][0], e[1][0], e[0][1], e[1][1]))


@given(box=pixel_boxes(), grid=st.sampled_from([(6, 6), (8, 8), (6, 8), (48, 48), (1, 3)]))
def test_the_shares_are_the_means_of_the_pixels_inside(box, grid):
    inside = np.zeros((SIDE, SIDE))
    inside[box[0] : box[2], box[1] : box[3]] = 1
    height, width = grid
    cells = inside.reshape(height, SIDE // height, width, SIDE // width).mean(axis=(1, 3))
    assert np.allclose(box_to_grid(box, grid), cells)


def test_many_boxes_at_once_are_one_box_at_a_time():
    boxes = make_batch(sample_pictures(4, default_rng(8))).boxes  # (4, m, 4)
    shares = box_to_grid(boxes, (5, 7))
    assert shares.shape == (*boxes.shape[:2], 5, 7)
    for i, j in np.ndindex(*boxes.shape[:2]):
        assert np.array_equal(shares[i, j], box_to_grid(boxes[i, j], (5, 7)))


@pytest.mark.parametrize(
    ("box", "grid", "message"),
    [
        ((0, 0, 8), (6, 6), r"shape \(\.\.\., 4\); got \(3,\)"),
        (5, (6, 6), r"shape \(\.\.\., 4\); got \(\)"),
        ((0, 0, 8, 49), (6, 6), "from 0 to 48"),
        ((-1, 0, 8, 8), (6, 6), "from 0 to 48"),
        ((9, 0, 8, 8), (6, 6), "from 0 to 48"),
        ((0, 0, np.nan, 8), (6, 6), "from 0 to 48"),
        ((0, 0, 8, 8), (0, 6), r"at least one row and one column; got \(0, 6\)"),
    ],
)
def test_a_box_outside_the_picture_or_an_empty_grid_is_refused(box, grid, message):
    with pytest.raises(ValueError, match=message):
        box_to_grid(box, grid)
