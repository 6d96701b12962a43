"""The captioner that runs in a page says what PyTorch says, with the same weights."""

from pathlib import Path

import numpy as np
import pytest
import torch
from captioner_in_torch import LOOKS, Forced, error, in_the_page, right, untaught, written
from engine_in_torch import KERNELS

from solutions.data.pictures import Picture, sample_pictures
from solutions.experiments.captioning.captioner import Captioner
from solutions.experiments.captioning.hiding import seeing

TOLERANCE = 1e-3
PICTURES = sample_pictures(12, np.random.default_rng(31))
Made = tuple[bytes, Captioner]


@pytest.fixture(scope="module")
def made() -> Made:
    return untaught(2)


def compare(made: Made, look: str, forced: list[Forced | None], folder: Path, kernel: str) -> None:
    """Logits and shares are PyTorch's, and so are the captions."""
    kept, model = made
    images = [picture.image for picture in PICTURES]
    targets = [right(picture) for picture in PICTURES]
    found = in_the_page(kept, look, images, targets, forced, folder, kernel)
    for image, target, one, said in zip(images, targets, forced, found, strict=True):
        assert error(model, look, image, target, one, said) < TOLERANCE
        wanted = written(model, look, image, one)
        assert tuple(said["words"]) == wanted.words
        assert np.allclose(said["shares"], wanted.shares, atol=TOLERANCE)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("look", LOOKS)
def test_logits_captions_and_shares_equal_pytorch(
    made: Made, tmp_path: Path, look: str, kernel: str
) -> None:
    compare(made, look, [None] * len(PICTURES), tmp_path, kernel)
    said = {written(made[1], look, picture.image, None).words for picture in PICTURES}
    assert len(said) > 3
    assert all(said)


@pytest.mark.parametrize("look", LOOKS)
def test_the_look_is_forced_as_in_pytorch(made: Made, tmp_path: Path, look: str) -> None:
    on_last = [Forced(at % 5, shape(picture)) for at, picture in enumerate(PICTURES)]
    compare(made, look, [*on_last], tmp_path, "wasm")
    on_one = [Forced(at % 5, place(5 * at)) for at in range(len(PICTURES))]
    compare(made, look, [*on_one], tmp_path, "wasm")
    changed = [
        written(made[1], look, picture.image, one).words
        != written(made[1], look, picture.image, None).words
        for picture, one in zip(PICTURES, on_one, strict=True)
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
