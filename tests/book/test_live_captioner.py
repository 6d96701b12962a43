"""Test that the captioner in a page computes the same as PyTorch, with the same weights."""

from pathlib import Path

import numpy as np
import pytest
import torch
from captioner_in_torch import Forced, error, in_the_page, right, untaught, written
from engine_in_torch import KERNELS

from solutions.data.pictures import Picture, sample_pictures
from solutions.experiments.captioning.captioner import WIDTH, Captioner
from solutions.experiments.captioning.hiding import seeing

TOLERANCE = 1e-3
PICTURES = sample_pictures(12, np.random.default_rng(31))
Untaught = tuple[bytes, Captioner]


@pytest.fixture(scope="module", params=[2, WIDTH])
def captioner(request: pytest.FixtureRequest) -> Untaught:
    """Return a captioner that is told where it looked, and one that is told all that it saw."""
    return untaught(2, request.param)


def compare(
    captioner: Untaught, look: str, forced: list[Forced | None], folder: Path, kernel: str
) -> None:
    """Check logits, shares and captions against PyTorch's."""
    weights, model = captioner
    images = [picture.image for picture in PICTURES]
    targets = [right(picture) for picture in PICTURES]
    reports = in_the_page(weights, look, images, targets, forced, folder, kernel)
    for image, target, forced_word, report in zip(images, targets, forced, reports, strict=True):
        assert error(model, look, image, target, forced_word, report) < TOLERANCE
        expected = written(model, look, image, forced_word)
        assert tuple(report["words"]) == expected.words
        assert np.allclose(report["shares"], expected.shares, atol=TOLERANCE)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("look", ["soft", "hard"])
def test_logits_captions_and_shares_equal_pytorch(
    captioner: Untaught, tmp_path: Path, look: str, kernel: str
) -> None:
    compare(captioner, look, [None] * len(PICTURES), tmp_path, kernel)
    captions = {written(captioner[1], look, picture.image, None).words for picture in PICTURES}
    assert len(captions) > 3
    assert all(captions)


@pytest.mark.parametrize("look", ["soft", "hard"])
def test_the_look_is_forced_as_in_pytorch(captioner: Untaught, tmp_path: Path, look: str) -> None:
    on_last = [Forced(at % 5, shape(picture)) for at, picture in enumerate(PICTURES)]
    compare(captioner, look, [*on_last], tmp_path, "wasm")
    on_one = [Forced(at % 5, place(5 * at)) for at in range(len(PICTURES))]
    compare(captioner, look, [*on_one], tmp_path, "wasm")
    changed = [
        written(captioner[1], look, picture.image, forced).words
        != written(captioner[1], look, picture.image, None).words
        for picture, forced in zip(PICTURES, on_one, strict=True)
    ]
    assert any(changed)


def shape(picture: Picture) -> torch.Tensor:
    """Return the places that see the last shape of a picture: (L,) bool."""
    box = picture.boxes[-1]
    assert box is not None
    return seeing(box)


def place(at: int) -> torch.Tensor:
    """Return one place: (L,) bool."""
    return torch.arange(64) == at
