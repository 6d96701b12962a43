"""The captioner that runs in a page, beside the same one in PyTorch."""

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
LOOKS: dict[str, Look] = {"soft": softly, "hard": strongest}


@dataclass(frozen=True)
class Forced:
    """The word for which some places alone can be seen. kept: (L,) bool."""

    at: int
    kept: Tensor


class Forcing:
    """A look that is forced once: the weights outside are dropped, and then it looks as ever."""

    def __init__(self, look: Look, forced: Forced) -> None:
        """Begin a caption."""
        self.look = look
        self.blinkered = Blinkered(torch.tensor([forced.at]), forced.kept[None])

    def __call__(self, weights: Tensor) -> Tensor:
        """weights: (1, L)."""
        return self.look(self.blinkered(weights))


def in_the_page(
    kept: bytes,
    look: str,
    images: Sequence[np.ndarray],
    targets: Sequence[Sequence[int]],
    forced: Sequence[Forced | None],
    folder: Path,
    kernel: str = "wasm",
) -> list[dict[str, Any]]:
    """Return what the page's captioner says of each image; see captions.mjs for what is told."""
    model, asked = folder / "captioner.model", folder / "cases.json"
    model.write_bytes(packed(kept))
    cases = [
        {
            "image": image.tolist(),
            "target": list(target),
            "forced": one and {"at": one.at, "places": one.kept.nonzero()[:, 0].tolist()},
        }
        for image, target, one in zip(images, targets, forced, strict=True)
    ]
    asked.write_text(json.dumps(cases), encoding="utf-8")
    command = ["node", str(CAPTIONS), str(model), str(asked), look, kernel]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def looking(look: str, forced: Forced | None) -> Look:
    """Return how a captioner looks."""
    return Forcing(LOOKS[look], forced) if forced else LOOKS[look]


def written(model: Captioner, look: str, image: np.ndarray, forced: Forced | None) -> Caption:
    """Return PyTorch's caption of an image."""
    (said,) = caption(model, [image], looking(look, forced))
    return said


def right(picture: Picture) -> list[int]:
    """Return the ids of the right caption, from [START] on."""
    return [START, *map(int, VOCABULARY.encode(picture.caption))]


@torch.no_grad()
def error(
    model: Captioner,
    look: str,
    image: np.ndarray,
    target: Sequence[int],
    forced: Forced | None,
    said: dict[str, Any],
) -> float:
    """Return how far any logit or share is from PyTorch's, over a caption that is read."""
    reading = model(torch.from_numpy(image)[None], torch.tensor([target]), looking(look, forced))
    wanted = {"logits": reading.logits[0], "shares": reading.shares[0]}
    return max(
        float((torch.tensor([step[what] for step in said["steps"]]) - one).abs().max())
        for what, one in wanted.items()
    )


def beside_torch(
    kept: bytes, look: str, pictures: Sequence[Picture], folder: Path
) -> tuple[int, float]:
    """Return how many captions differ from PyTorch's, and how far any logit or share is from its.

    The captions are the captioner's own; logits and shares are those of the right captions, read.
    """
    model = from_bytes(kept)
    images = [picture.image for picture in pictures]
    targets = [right(picture) for picture in pictures]
    found = in_the_page(kept, look, images, targets, [None] * len(pictures), folder)
    wanted = caption(model, images, LOOKS[look])
    differ = sum(tuple(a["words"]) != b.words for a, b in zip(found, wanted, strict=True))
    cases = zip(images, targets, found, strict=True)
    return differ, max(error(model, look, *case, None, said) for *case, said in cases)


def untaught(seed: int) -> tuple[bytes, Captioner]:
    """Return a captioner that says something: its weights are larger than at first.

    Its statistics are those of pictures; it says no token that is no word.
    """
    torch.manual_seed(seed)
    model = Captioner()
    with torch.no_grad():
        for one in model.parameters():
            one *= 2
        model.read_out[-1].bias[[PAD, START, UNKNOWN]] -= 100
        for _ in range(20):
            images = [picture.image for picture in sample_pictures(16, np.random.default_rng(1))]
            model.encode(torch.from_numpy(np.stack(images)))
    kept = as_bytes({name: one.numpy() for name, one in model.state_dict().items()})
    return kept, from_bytes(kept)
