"""Test the stored results of executed pages: complete, unedited, and of these pages."""

import json
from pathlib import Path
from typing import Any

import pytest
from assignment_facts import collect_facts, stored_facts
from course_build import machine, proof, storage
from course_build.book import Book
from course_build.chapters import Settings, read_chapter
from course_build.comparison import Number
from course_build.executing import Outcome
from course_build.kernels import ChapterError
from course_build.outputs import to_files
from course_build.storage import Damaged, StoredRun
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output
from site_tools import NOTEBOOK, ROOT, cell

MADE_FROM = {"cells": []}
RUN = {"seconds": 1.0}
FILES = {"outputs.json": b"[]\n", "numbers.json": b'{"x": 1}\n', "timed/numbers.json": b"{}\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of an executed page called `page`."""
    storage.write(tmp_path / "page", StoredRun(MADE_FROM, RUN, FILES))
    return tmp_path / "page"


def test_records_survive_a_round_trip(folder: Path) -> None:
    record = storage.read(folder)
    assert record == StoredRun(MADE_FROM, RUN, FILES)
    assert set(record.stable) == {"outputs.json", "numbers.json"}
    before = {path: path.read_bytes() for path in folder.rglob("*.json")}
    storage.write(folder, record)
    assert {path: path.read_bytes() for path in folder.rglob("*.json")} == before


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("numbers.json", b'{"x": 2}\n', "numbers.json differs from what the run wrote"),
        ("timed/numbers.json", b'{"x": 2}\n', "timed/numbers.json differs from what the run wrote"),
        ("outputs.json", None, "outputs.json is missing"),
        ("page.json", b'{"page": "pa', "page.json is cut off or is not a record"),
        ("page.json", b"[]", "page.json is cut off or is not a record"),
        ("timed/run.json", None, "timed/run.json is missing"),
    ],
)
def test_damage_is_reported_in_one_line_with_file_and_command(
    folder: Path, file: str, content: bytes | None, message: str
) -> None:
    (folder / file).unlink(missing_ok=True)
    if content is not None:
        (folder / file).write_bytes(content)
    with pytest.raises(Damaged, match="Type: make fresh PAGES=page") as caught:
        storage.read(folder)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unexpected_file_must_be_removed(folder: Path) -> None:
    (folder / "a file.svg").write_text("<svg/>")
    with pytest.raises(
        Damaged, match=r"a file\.svg was not written by a run\. Type: rm '.*a file\.svg'$"
    ):
        storage.read(folder)


def test_a_wrong_seal_and_a_foreign_page_are_detected(folder: Path) -> None:
    other_folder = folder.with_name("other")
    folder.rename(other_folder)
    with pytest.raises(Damaged, match="belongs to the page 'page'"):
        storage.read(other_folder)
    other_folder.rename(folder)
    record = json.loads((folder / "page.json").read_text())
    (folder / "page.json").write_text(json.dumps(record | {"made_from": {"cells": ["x"]}}))
    with pytest.raises(Damaged, match=r"page\.json differs from what the run wrote"):
        storage.read(folder)


def test_a_half_finished_write_is_rolled_back(folder: Path) -> None:
    folder.rename(folder.with_name(".old-page"))
    storage.restore(folder.parent)
    assert storage.read(folder) is not None


def test_printed_output_is_joined_into_one_text() -> None:
    def page(*sent: str) -> NotebookNode:
        cell = new_code_cell(outputs=[new_output("stream", name="stdout", text=t) for t in sent])
        return new_notebook(cells=[cell])

    assert to_files(page("first", "\nsecond", "\n")) == to_files(page("first\nsecond\n"))


@pytest.mark.parametrize(
    ("header", "counts"),
    [
        (":tags: [hide-input]", False),
        (":tags: [timed, hide-input]", True),
        (":tags: [skip-execution]", True),
        ("---\nmystnb: {figure: {name: fig-one, caption: A line.}}\n---", True),
        ("---\nmystnb: {image: {alt: A line.}}\n---", False),
    ],
)
def test_only_tags_and_names_that_affect_the_output_count(
    tmp_path: Path, header: str, counts: bool
) -> None:
    digests = []
    for text in ("", header):
        (tmp_path / "book").mkdir(exist_ok=True)
        (tmp_path / "book" / "page.md").write_text(NOTEBOOK + cell("print(1)", header=text))
        page = read_chapter("page", Settings(tmp_path))
        assert page is not None
        digests.append(page.made_from(tmp_path, tmp_path)["cells"])
    assert (digests[0] != digests[1]) == counts


def test_different_rounding_counts_as_another_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = machine.description()
    assert machine.rounds_alike(here)
    assert machine.rounds_alike({**here, "cores": 64})
    for name in machine.ROUNDING:
        assert not machine.rounds_alike({**here, name: "another"})


def test_each_page_is_proved_once_per_cycle_of_groups() -> None:
    seconds = {"a": 5.0, "b": 400.0, "c": 300.0, "d": 700.0, "e": 20.0, "f": 100.0}
    groups = proof.groups(seconds)
    assert groups == [["b"], ["c"], ["d"], ["e", "f"]]
    assert sorted(name for group in groups for name in group) == [
        name for name in seconds if seconds[name] >= proof.SHORT
    ]


def test_pages_that_may_not_fit_into_the_time_are_left_out() -> None:
    seconds = {"a": 5.0, "b": 400.0, "c": 30.0}
    assert proof.that_fit(["a", "b", "c"], seconds, 2000) == ["a", "b", "c"]
    assert proof.that_fit(["a", "b", "c"], seconds, 200) == ["a", "c"]
    assert proof.that_fit(["a", "b", "c"], seconds, -1) == []


@pytest.mark.parametrize(
    ("before", "now", "far"),
    [
        (1.0, 1.4, False),
        (40, 4000, True),
        (0.5, -0.5, True),
        (2, 1, False),
        (1, 0, False),
        (20, 0, True),
        (1e-9, 0.0, False),
        (1e-3, 0.0, True),
        ("yes", "no", True),
        (None, 1.0, True),
    ],
)
def test_differences_beyond_rounding_are_far(before: Any, now: Any, far: bool) -> None:
    assert Number("x", before, now).far == far


def made(run: dict[str, Any], x: float | None) -> Outcome:
    """Return a page that was executed on this machine, where `x` was 1.0, as in `run`."""
    before = StoredRun(MADE_FROM, run, {"numbers.json": b'{"x": 1.0}\n'})
    if x is None:
        return Outcome("page", before, None, False, ChapterError("book/page.md:3", "no"))
    files = {"numbers.json": json.dumps({"x": x}).encode()}
    return Outcome("page", before, StoredRun(MADE_FROM, run, files), False)


@pytest.mark.parametrize(
    ("x", "here", "elsewhere"),
    [
        (1.0, "HOLDS", "HOLDS"),
        (1.1, "FAILS", "HOLDS"),
        (99.0, "FAILS", "WARNS"),
        (None, "FAILS", "WARNS"),
    ],
)
def test_moved_numbers_fail_at_home_and_elsewhere_only_in_the_change_itself(
    x: float | None, here: str, elsewhere: str
) -> None:
    run = machine.description()
    other_run = {**run, "processor": "another"}
    assert proof.judgement(made(run, x), ()).name == here
    assert proof.judgement(made(other_run, x), ()).name == elsewhere
    brought = proof.judgement(made(other_run, x), {"page"})
    assert brought.name == ("HOLDS" if elsewhere == "HOLDS" else "FAILS")


def test_a_page_whose_published_model_is_missing_is_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COURSE_SMOLLM2", str(tmp_path))
    monkeypatch.setenv("COURSE_MINILM", str(tmp_path))
    code = Book(ROOT).made_from("self_attention")["code"] | {machine.SMOLLM2: ""}
    assert machine.MINILM in code
    for needed in (code, {machine.SMOLLM2}):
        reason = machine.missing_weights(needed)
        assert reason is not None
        assert str(tmp_path) in reason
        assert reason.endswith(machine.INSTALL)
    assert machine.missing_weights(["solutions/alignment.py"]) is None
    assert (ROOT / machine.SMOLLM2).is_file()


def test_no_page_of_the_book_is_out_of_date() -> None:
    book = Book(ROOT)
    assert book.problems() == []


def test_stored_assignment_facts_match_the_exercises() -> None:
    assert collect_facts() == stored_facts(), "type: python -m book._ext.assignment_facts"
