"""What the pages say of the translators in them holds for the machines that are kept."""

import json
from pathlib import Path
from typing import Any

import pytest
from live_in_torch import in_the_page, largest_error, read_case

from book._ext.course_live import MACHINES, weights_of
from solutions.data.translation import Pair
from solutions.translators.keeping import from_bytes
from solutions.translators.machines import CLAUSES, LENGTHS
from solutions.translators.quality import held_out_pairs, token_accuracy, translate_pairs

PAIRS = [one for lengths in LENGTHS for one in held_out_pairs("french", lengths, 40, CLAUSES)]


def words(kept: bytes, folder: Path, pairs: list[Pair], changed: dict[str, Any]) -> list[Any]:
    cases = [{"source": one.source, "target": [], "changed": changed} for one in pairs]
    return [tuple(one["words"]) for one in in_the_page(kept, cases, folder)]


@pytest.mark.parametrize("name", MACHINES)
def test_two_hundred_sentences_are_translated_as_pytorch_translates_them(
    tmp_path: Path, name: str
) -> None:
    kept = weights_of(name).read_bytes()
    model, task = from_bytes(kept)
    assert words(kept, tmp_path, PAIRS, {}) == translate_pairs(model, task, PAIRS)
    some = PAIRS[::8]
    found = in_the_page(kept, [read_case(task, pair) for pair in some], tmp_path)
    assert largest_error(model, task, some, found) < 1e-3


def test_positions_from_ten_change_most_translations(tmp_path: Path) -> None:
    kept = weights_of("transformer").read_bytes()
    short = PAIRS[:80]
    free = words(kept, tmp_path, short, {})
    moved = words(kept, tmp_path, short, {"moved": 10})
    assert sum(one != other for one, other in zip(free, moved, strict=True)) > 0.6 * len(short)


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
    ((one,),) = [in_the_page(weights_of(name).read_bytes(), [first], tmp_path)]
    assert one["words"] == ["le", "médecin", "achète", "une", "voiture", "rouge", "."]


def test_a_machine_of_the_page_weighs_a_megabyte_at_most() -> None:
    from book._ext.live_grammar import tables
    from book._ext.live_models import packed

    for name in MACHINES:
        assert len(packed(weights_of(name).read_bytes())) < 1_000_000
    assert len(json.dumps(tables(), ensure_ascii=False)) < 40_000
