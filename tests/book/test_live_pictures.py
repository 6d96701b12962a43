"""The pictures that a reader composes in the page are those of the data."""

import json
import subprocess
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from site_tools import ROOT

from solutions.data import pictures
from solutions.data.pictures import Box, Picture, relation, sample_pictures
from solutions.experiments.captioning import hiding

DRIVER = ROOT / "tests" / "web" / "live" / "scenes.mjs"
COUNT = 200
Told = dict[str, Any]


@pytest.fixture(scope="module")
def sampled() -> list[Picture]:
    return sample_pictures(COUNT, np.random.default_rng(40))


@pytest.fixture(scope="module")
def told(sampled: list[Picture], tmp_path_factory: pytest.TempPathFactory) -> Told:
    asked = tmp_path_factory.mktemp("pictures") / "asked.json"
    rng = np.random.default_rng(41)
    scenes = [rng.permutation(np.array(shapes(one), dtype=object)).tolist() for one in sampled]
    asking = {"scenes": scenes, "drawn": COUNT, "steps": 40, "seed": 6}
    asked.write_text(json.dumps(asking), encoding="utf-8")
    done = subprocess.run(["node", str(DRIVER), str(asked)], capture_output=True, check=True)
    said: Told = json.loads(done.stdout)
    return said


def test_a_picture_of_the_data_has_its_caption_in_the_page(
    told: Told, sampled: list[Picture]
) -> None:
    for one, picture in zip(told["scenes"], sampled, strict=True):
        assert tuple(one["caption"]) == picture.caption
        assert one["fault"] == ""
        assert one["straight"]


def test_a_picture_is_painted_as_in_the_data(told: Told, sampled: list[Picture]) -> None:
    for one, picture in zip(told["scenes"], sampled, strict=True):
        rows = [pictures.SHAPES.index((s["colour"], s["kind"])) for s in shapes(picture)]
        wanted = pictures._paint(NoNoise(), rows, [box(s) for s in shapes(picture)])
        found = np.array(one["image"]).reshape(pictures.SIDE, pictures.SIDE, 3)
        assert np.allclose(found.transpose(2, 0, 1), wanted, atol=1e-6)


def test_drawn_and_moved_pictures_match_their_caption(told: Told) -> None:
    for one in told["drawn"] + told["walked"]:
        check(one)
    assert all(one["straight"] for one in told["drawn"])
    assert not all(one["straight"] for one in told["walked"])
    said = {" ".join(word for word in words(one)) for one in told["drawn"]}
    assert len(said) == 6
    assert {len(one["shapes"]) for one in told["walked"]} == {2, 3}


def test_a_place_sees_a_shape_as_in_the_experiment(told: Told, sampled: list[Picture]) -> None:
    assert told["beyond"] == hiding.BEYOND
    for one in told["scenes"] + told["walked"]:
        seen = sorted(tuple(places) for places in one["seeing"])
        all_seeing = [hiding.seeing(box(shape)) for shape in one["shapes"]]
        wanted = []
        for at, mine in enumerate(all_seeing):
            for other in all_seeing[:at] + all_seeing[at + 1 :]:
                mine = mine & ~other
            wanted.append(tuple(mine.nonzero()[:, 0].tolist()))
        assert seen == sorted(wanted)
        assert all(seen)


class NoNoise:
    """A generator whose noise is 0."""

    def standard_normal(self, shape: tuple[int, ...], dtype: type) -> np.ndarray:
        """Return zeros."""
        return np.zeros(shape, dtype)


def shapes(picture: Picture) -> list[dict[str, Any]]:
    """Return the shapes of a picture as the page has them, in the order of the caption."""
    found = []
    for at, place in enumerate(picture.boxes):
        if place is not None and picture.caption[at - 1] == "a":
            colour, kind = picture.caption[at : at + 2]
            size = place.bottom - place.top
            found.append({"colour": colour, "kind": kind, "size": size})
            found[-1].update(top=place.top, left=place.left)
    return found


def box(shape: dict[str, Any]) -> Box:
    """Return the box of a shape of the page."""
    top, left, size = shape["top"], shape["left"], shape["size"]
    return Box(top, left, top + size, left + size)


def words(one: Told) -> list[str]:
    """Return how each shape stands to the next."""
    return [relation(*pair) for pair in pairwise(box(shape) for shape in one["shapes"])]


def check(one: Told) -> None:
    """Hold the rules of the pictures: each relation is said, and no other one is there."""
    assert one["fault"] == ""
    found, relations = [box(shape) for shape in one["shapes"]], words(one)
    assert all(min(place) >= 0 and max(place) <= pictures.SIDE for place in found)
    gaps = [pictures._gaps(*pair) for pair in pairwise(found)]
    assert all(max(gap) >= pictures.GAP for gap in gaps)
    caption = [word for shape in one["shapes"] for word in ("a", shape["colour"], shape["kind"])]
    for at, said in reversed(list(enumerate(relations))):
        caption[3 * at + 3 : 3 * at + 3] = said.split()
    assert one["caption"] == caption
    assert len({shape["colour"] for shape in one["shapes"]}) == len(found)
    if len(found) == 2:
        assert relations[0] in {"above", "left of"}
    else:
        assert "left of" in relations
        assert len(set(relations)) == 2
        assert not set(relations) - {"above", "below", "left of"}
        assert min(pictures._gaps(found[0], found[2])) >= pictures.GAP
        assert sum(found[0][1::2]) < sum(found[2][1::2])
