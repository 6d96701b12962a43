"""Test that the claims of the pages about their machines hold for the stored weights."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from captioner_in_torch import Forced, beside_torch
from captioner_in_torch import in_the_page as captioned
from live_in_torch import in_the_page, largest_error, read_case
from writer_page import in_the_page as read_by_gpt

from book._ext.course_captioner import MACHINES as CAPTIONERS
from book._ext.course_captioner import START, START_CAPTION
from book._ext.course_captioner import weights_of as captioner_of
from book._ext.course_live import EXECUTED, MACHINES, weights_of
from book._ext.course_writer import READINGS, WEIGHTS, model
from solutions.data.pictures import SHAPES, Box, _paint
from solutions.data.translation import Pair
from solutions.experiments.captioning.hiding import seeing
from solutions.experiments.captioning.looking import pictures_for
from solutions.experiments.gpt_and_bert.keeping import from_bytes as gpt_from_bytes
from solutions.experiments.gpt_and_bert.run import the_corpus
from solutions.translators.keeping import from_bytes
from solutions.translators.machines import CLAUSES, LENGTHS
from solutions.translators.quality import held_out_pairs, token_accuracy, translate_pairs

BOOK = EXECUTED.parent
PAIRS = [pair for lengths in LENGTHS for pair in held_out_pairs("french", lengths, 40, CLAUSES)]
PICTURES = pictures_for(0)[:200]


def words(weights: bytes, folder: Path, pairs: list[Pair], changed: dict[str, Any]) -> list[Any]:
    cases = [{"source": pair.source, "target": [], "changed": changed} for pair in pairs]
    return [tuple(report["words"]) for report in in_the_page(weights, cases, folder)]


@pytest.mark.parametrize("name", MACHINES)
def test_two_hundred_sentences_are_translated_as_pytorch_translates_them(
    tmp_path: Path, name: str
) -> None:
    weights = weights_of(name).read_bytes()
    model, task = from_bytes(weights)
    assert words(weights, tmp_path, PAIRS, {}) == translate_pairs(model, task, PAIRS)
    some = PAIRS[::8]
    reports = in_the_page(weights, [read_case(task, pair) for pair in some], tmp_path)
    assert largest_error(model, task, some, reports) < 1e-3


def test_positions_from_ten_change_most_translations(tmp_path: Path) -> None:
    weights = weights_of("transformer").read_bytes()
    short = PAIRS[:80]
    free = words(weights, tmp_path, short, {})
    moved = words(weights, tmp_path, short, {"moved": 10})
    assert sum(before != after for before, after in zip(free, moved, strict=True)) > 0.6 * len(
        short
    )


def test_one_vector_fails_before_the_transformer_does(tmp_path: Path) -> None:
    references = [pair.target for pair in PAIRS[80:]]
    right = {
        name: token_accuracy(
            words(weights_of(name).read_bytes(), tmp_path, PAIRS[80:], {}), references
        )
        for name in ("bottleneck", "transformer")
    }
    assert right["transformer"] > right["bottleneck"] + 0.4


@pytest.mark.parametrize("name", MACHINES)
def test_each_machine_gets_the_first_sentence_right(tmp_path: Path, name: str) -> None:
    first = {
        "source": ["the", "doctor", "buys", "a", "red", "car", "."],
        "target": [],
        "changed": {},
    }
    ((report,),) = [in_the_page(weights_of(name).read_bytes(), [first], tmp_path)]
    assert report["words"] == ["le", "médecin", "achète", "une", "voiture", "rouge", "."]


def test_predictions_before_the_figures_match_the_measurements() -> None:
    vector, look = (
        np.mean(json.loads((EXECUTED / page / file).read_text())["token_accuracy"], axis=0)
        for page, _, file in (MACHINES["bottleneck"], MACHINES["transformer"])
    )
    at = LENGTHS.index((30, 39))
    assert (vector[at], look[at]) == (
        pytest.approx(1 / 8, abs=0.02),
        pytest.approx(9 / 10, abs=0.02),
    )
    assert "- [x] One in eight from the single list, nine in ten" in (BOOK / "index.md").read_text()
    falls = -np.diff(vector)
    assert 0.9 < falls[0] / falls[1:].sum() < 1.1
    chapter = (BOOK / "context_bottleneck.md").read_text()
    assert "- [x] The first that is added: about as much as all later ones together." in chapter


def test_a_machine_of_the_page_weighs_a_megabyte_at_most() -> None:
    from book._ext.live_grammar import tables
    from book._ext.live_models import packed

    for name in MACHINES:
        assert len(packed(weights_of(name).read_bytes())) < 1_000_000
    for name in CAPTIONERS:
        assert len(packed(captioner_of(name).read_bytes())) < 100_000
    assert len(json.dumps(tables(), ensure_ascii=False)) < 40_000


@pytest.mark.parametrize("name", CAPTIONERS)
def test_two_hundred_pictures_are_captioned_as_pytorch_captions_them(
    tmp_path: Path, name: str
) -> None:
    weights, look = captioner_of(name).read_bytes(), name.removeprefix("captioner_")
    assert beside_torch(weights, look, PICTURES, tmp_path) == (0, pytest.approx(0, abs=1e-3))


@pytest.mark.parametrize("name", CAPTIONERS)
def test_each_captioner_gets_the_first_picture_right(tmp_path: Path, name: str) -> None:
    weights, look = captioner_of(name).read_bytes(), name.removeprefix("captioner_")
    boxes = [Box(top, left, top + size, left + size) for *_, top, left, size in START]
    rows = [SHAPES.index((colour, kind)) for colour, kind, *_ in START]
    image = _paint(np.random.default_rng(0), rows, boxes)
    (report,) = captioned(weights, look, [image], [[]], [None], tmp_path)
    assert " ".join(report["words"]) == START_CAPTION


@pytest.mark.parametrize("name", CAPTIONERS)
def test_a_kind_follows_a_forced_look_unless_it_is_remembered(tmp_path: Path, name: str) -> None:
    weights, look = captioner_of(name).read_bytes(), name.removeprefix("captioner_")
    two = [picture for picture in PICTURES if len(picture.caption) in (7, 8)]
    chosen = [picture for picture in two if picture.caption[2] != picture.caption[-1]]
    forced = [
        Forced(2, seeing(picture.boxes[-1]) & ~seeing(picture.boxes[2])) for picture in chosen
    ]
    reports = captioned(
        weights, look, [picture.image for picture in chosen], [[] for _ in chosen], forced, tmp_path
    )
    follows = [a["words"][2] == b.caption[-1] for a, b in zip(reports, chosen, strict=True)]
    assert len(chosen) > 50
    if name == "captioner_remembering":
        assert sum(follows) < 0.5 * len(chosen)
    else:
        assert sum(follows) > 0.5 * len(chosen)


def test_the_gpt_of_the_page_ranks_the_tokens_of_the_book_as_pytorch_does(tmp_path: Path) -> None:
    weights = WEIGHTS.read_bytes()
    assert len(model()) < 500_000
    gpt, tokens = gpt_from_bytes(weights)
    ids = the_corpus().validation[:3200].view(100, 32)
    texts = [tokens.decode(one) for one in ids]
    for text, found in zip(texts, read_by_gpt(weights, texts, tmp_path), strict=True):
        read = tokens.encode(text)
        assert found["ids"] == read.tolist()
        logits = gpt(read[None])[0, -1].numpy()
        assert np.abs(found["logits"] - logits).max() < 1e-3
        assert np.argmax(found["logits"]) == np.argmax(logits)


def test_what_the_page_shows_without_the_model_is_what_the_model_says(tmp_path: Path) -> None:
    beginnings = json.loads(READINGS.read_text())["beginnings"]
    texts = [one["text"] for one in beginnings]
    for kept, found in zip(
        beginnings, read_by_gpt(WEIGHTS.read_bytes(), texts, tmp_path), strict=True
    ):
        assert found["ids"] == kept["ids"]
        assert np.abs(np.subtract(found["logits"], kept["logits"])).max() < 0.05
        for look, expected in zip(found["looks"], kept["looks"], strict=True):
            for row, expected_row in zip(look, expected, strict=True):
                assert np.abs(np.subtract(row, expected_row)).max() < 0.01
