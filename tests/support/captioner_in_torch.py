"""Compare the captioner that runs in a page with the same captioner in PyTorch."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from book._ext.live_models import packed
from solutions.data.pictures import VOCABULARY, Picture, sample_pictures
from solutions.data.translation.vocabulary import PAD, START, UNKNOWN
from solutions.experiments.captioning.captioner import Captioner, Look, softly, strongest
from solutions.experiments.captioning.captions import Caption, caption
from solutions.experiments.captioning.hiding import Blinkered
from solutions.experiments.captioning.keeping import as_bytes, from_bytes

CAPTIONS = Path(__file__).parents[1] / "web" / "live" / "captions.mjs"
LOOKS: dict[str, Look] = {"soft": softly, "hard": strongest, "remembering": softly}
"""The captioners of the page, and how each looks."""


@dataclass(frozen=True)
class Forced:
    """The word that may see only some of the positions. visible: (L,) bool."""

    at: int
    visible: Tensor


class Forcing:
    """A look that is forced once: it drops the weights outside, and then behaves normally."""

    def __init__(self, look: Look, forced: Forced) -> None:
        """Begin a caption."""
        self.look = look
        self.blinkered = Blinkered(torch.tensor([forced.at]), forced.visible[None])

    def __call__(self, weights: Tensor) -> Tensor:
        """weights: (1, L)."""
        return self.look(self.blinkered(weights))


def in_the_page(
    weights: bytes,
    look: str,
    images: Sequence[np.ndarray],
    targets: Sequence[Sequence[int]],
    forced: Sequence[Forced | None],
    folder: Path,
    kernel: str = "wasm",
) -> list[dict[str, Any]]:
    """Return the page's caption of each image; see captions.mjs for the fields of each case."""
    model, request = folder / "captioner.model", folder / "cases.json"
    model.write_bytes(packed(weights))
    cases = [
        {
            "image": image.tolist(),
            "target": list(target),
            "forced": forced_word
            and {"at": forced_word.at, "places": forced_word.visible.nonzero()[:, 0].tolist()},
        }
        for image, target, forced_word in zip(images, targets, forced, strict=True)
    ]
    request.write_text(json.dumps(cases), encoding="utf-8")
    command = ["node", str(CAPTIONS), str(model), str(request), look, kernel]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    report: list[dict[str, Any]] = json.loads(done.stdout)
    return report


def looking(look: str, forced: Forced | None) -> Look:
    """Return how a captioner looks."""
    return Forcing(LOOKS[look], forced) if forced else LOOKS[look]


def written(model: Captioner, look: str, image: np.ndarray, forced: Forced | None) -> Caption:
    """Return PyTorch's caption of an image."""
    (generated,) = caption(model, [image], looking(look, forced))
    return generated


def right(picture: Picture) -> list[int]:
    """Return the ids of the reference caption, from [START] on."""
    return [START, *map(int, VOCABULARY.encode(picture.caption))]


@torch.no_grad()
def error(
    model: Captioner,
    look: str,
    image: np.ndarray,
    target: Sequence[int],
    forced: Forced | None,
    report: dict[str, Any],
) -> float:
    """Return the largest difference of a logit or share from PyTorch's, over a read caption."""
    reading = model(torch.from_numpy(image)[None], torch.tensor([target]), looking(look, forced))
    expected = {"logits": reading.logits[0], "shares": reading.shares[0]}
    return max(
        float((torch.tensor([step[quantity] for step in report["steps"]]) - value).abs().max())
        for quantity, value in expected.items()
    )


def beside_torch(
    weights: bytes, look: str, pictures: Sequence[Picture], folder: Path
) -> tuple[int, float]:
    """Return how many captions differ from PyTorch's, and the largest error of a logit or share.

    The captions are generated; logits and shares are those of the reference captions, which are
    read.
    """
    model = from_bytes(weights)
    images = [picture.image for picture in pictures]
    targets = [right(picture) for picture in pictures]
    reports = in_the_page(weights, look, images, targets, [None] * len(pictures), folder)
    expected = caption(model, images, LOOKS[look])
    differ = sum(tuple(a["words"]) != b.words for a, b in zip(reports, expected, strict=True))
    cases = zip(images, targets, reports, strict=True)
    errors = (error(model, look, image, words, None, report) for image, words, report in cases)
    return differ, max(errors)


def untaught(seed: int, told: int = 2) -> tuple[bytes, Captioner]:
    """Return a captioner that does not stop at once: its weights are larger than at first.

    Its statistics are those of pictures; it never produces a special token. told: see Captioner.
    """
    torch.manual_seed(seed)
    model = Captioner(told)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= 2
        model.read_out[-1].bias[[PAD, START, UNKNOWN]] -= 100
        for _ in range(20):
            images = [picture.image for picture in sample_pictures(16, np.random.default_rng(1))]
            model.encode(torch.from_numpy(np.stack(images)))
    weights = as_bytes({name: tensor.numpy() for name, tensor in model.state_dict().items()})
    return weights, from_bytes(weights)
