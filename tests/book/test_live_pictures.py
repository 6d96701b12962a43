"""Test that the pictures composed in the page follow the rules of the data."""

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
def reports(sampled: list[Picture], tmp_path_factory: pytest.TempPathFactory) -> Told:
    request = tmp_path_factory.mktemp("pictures") / "asked.json"
    rng = np.random.default_rng(41)
    scenes = [
        rng.permutation(np.array(shapes(picture), dtype=object)).tolist() for picture in sampled
    ]
    asking = {"scenes": scenes, "drawn": COUNT, "steps": 40, "seed": 6}
    request.write_text(json.dumps(asking), encoding="utf-8")
    done = subprocess.run(["node", str(DRIVER), str(request)], capture_output=True, check=True)
    report: Told = json.loads(done.stdout)
    return report


def test_a_picture_of_the_data_has_its_caption_in_the_page(
    reports: Told, sampled: list[Picture]
) -> None:
    for scene, picture in zip(reports["scenes"], sampled, strict=True):
        assert tuple(scene["caption"]) == picture.caption
        assert scene["fault"] == ""
        assert scene["straight"]


def test_a_picture_is_painted_as_in_the_data(reports: Told, sampled: list[Picture]) -> None:
    for scene, picture in zip(reports["scenes"], sampled, strict=True):
        rows = [pictures.SHAPES.index((s["colour"], s["kind"])) for s in shapes(picture)]
        expected = pictures._paint(NoNoise(), rows, [box(s) for s in shapes(picture)])
        image = np.array(scene["image"]).reshape(pictures.SIDE, pictures.SIDE, 3)
        assert np.allclose(image.transpose(2, 0, 1), expected, atol=1e-6)


def test_drawn_and_moved_pictures_match_their_caption(reports: Told) -> None:
    for scene in reports["drawn"] + reports["walked"]:
        check(scene)
    assert all(scene["straight"] for scene in reports["drawn"])
    assert not all(scene["straight"] for scene in reports["walked"])
    captions = {" ".join(word for word in words(scene)) for scene in reports["drawn"]}
    assert len(captions) == 6
    assert {len(scene["shapes"]) for scene in reports["walked"]} == {2, 3}


def test_a_place_sees_a_shape_as_in_the_experiment(reports: Told, sampled: list[Picture]) -> None:
    assert reports["beyond"] == hiding.BEYOND
    for scene in reports["scenes"] + reports["walked"]:
        places_by_shape = sorted(tuple(places) for places in scene["seeing"])
        all_seeing = [hiding.seeing(box(shape)) for shape in scene["shapes"]]
        expected = []
        for at, mine in enumerate(all_seeing):
            for other in all_seeing[:at] + all_seeing[at + 1 :]:
                mine = mine & ~other
            expected.append(tuple(mine.nonzero()[:, 0].tolist()))
        assert places_by_shape == sorted(expected)
        assert all(places_by_shape)


class NoNoise:
    """A generator whose noise is 0."""

    def standard_normal(self, shape: tuple[int, ...], dtype: type) -> np.ndarray:
        """Return zeros."""
        return np.zeros(shape, dtype)


def shapes(picture: Picture) -> list[dict[str, Any]]:
    """Return the shapes of a picture in the page's format, in the order of the caption."""
    rows = []
    for at, place in enumerate(picture.boxes):
        if place is not None and picture.caption[at - 1] == "a":
            colour, kind = picture.caption[at : at + 2]
            size = place.bottom - place.top
            rows.append({"colour": colour, "kind": kind, "size": size})
            rows[-1].update(top=place.top, left=place.left)
    return rows


def box(shape: dict[str, Any]) -> Box:
    """Return the box of a shape of the page."""
    top, left, size = shape["top"], shape["left"], shape["size"]
    return Box(top, left, top + size, left + size)


def words(scene: Told) -> list[str]:
    """Return the relation of each shape to the next."""
    return [relation(*pair) for pair in pairwise(box(shape) for shape in scene["shapes"])]


def check(scene: Told) -> None:
    """Check the rules of the pictures: the caption names every relation, and no other exists."""
    assert scene["fault"] == ""
    boxes, relations = [box(shape) for shape in scene["shapes"]], words(scene)
    assert all(min(place) >= 0 and max(place) <= pictures.SIDE for place in boxes)
    gaps = [pictures._gaps(*pair) for pair in pairwise(boxes)]
    assert all(max(gap) >= pictures.GAP for gap in gaps)
    caption = [word for shape in scene["shapes"] for word in ("a", shape["colour"], shape["kind"])]
    for at, said in reversed(list(enumerate(relations))):
        caption[3 * at + 3 : 3 * at + 3] = said.split()
    assert scene["caption"] == caption
    assert len({shape["colour"] for shape in scene["shapes"]}) == len(boxes)
    if len(boxes) == 2:
        assert relations[0] in {"above", "left of"}
    else:
        assert "left of" in relations
        assert len(set(relations)) == 2
        assert not set(relations) - {"above", "below", "left of"}
        assert min(pictures._gaps(boxes[0], boxes[2])) >= pictures.GAP
        assert sum(boxes[0][1::2]) < sum(boxes[2][1::2])
