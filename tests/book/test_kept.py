"""What is kept of executed pages: whole, unedited, and of these pages."""

import json
from pathlib import Path

import pytest
from assignment_facts import collected
from assignment_facts import kept as facts
from course_build import kept, proof
from course_build.bench import Book
from course_build.kept import Damaged
from course_build.outputs import to_files
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output

ROOT = Path(__file__).parents[2]
FILES = {"outputs.json": b"[]\n", "numbers.json": b'{"x": 1}\n', "timed/numbers.json": b"{}\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of an executed page called `page`."""
    kept.write(tmp_path / "page", "page", {"cells": []}, {"seconds": 1.0}, FILES)
    return tmp_path / "page"


def test_what_was_written_is_read_and_written_again_alike(folder: Path) -> None:
    found = kept.read(folder, "page")
    assert found is not None
    assert found.files == FILES
    assert set(found.stable) == {"outputs.json", "numbers.json"}
    before = {path: path.read_bytes() for path in folder.rglob("*.json")}
    kept.write(folder, "page", {"cells": []}, {"seconds": 1.0}, FILES)
    assert {path: path.read_bytes() for path in folder.rglob("*.json")} == before


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("numbers.json", b'{"x": 2}\n', "numbers.json is not what the run made"),
        ("timed/numbers.json", b'{"x": 2}\n', "timed/numbers.json is not what the run made"),
        ("outputs.json", None, "outputs.json is missing"),
        ("more.svg", b"<svg/>", "more.svg was made by no run"),
        ("page.json", b'{"page": "pa', "page.json is cut off, or is no record"),
        ("page.json", b"[]", "page.json is cut off, or is no record"),
        ("timed/run.json", None, "timed/run.json is missing"),
    ],
)
def test_damage_is_one_line_that_names_the_file_and_the_command(
    folder: Path, file: str, content: bytes | None, said: str
) -> None:
    (folder / file).unlink(missing_ok=True)
    if content is not None:
        (folder / file).write_bytes(content)
    with pytest.raises(Damaged, match="Type: git restore book/executed/page") as caught:
        kept.read(folder, "page")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_seal_that_does_not_fit_and_another_page_are_found(folder: Path) -> None:
    with pytest.raises(Damaged, match="is of the page 'page'"):
        kept.read(folder, "other")
    record = json.loads((folder / "page.json").read_text())
    (folder / "page.json").write_text(json.dumps(record | {"made_from": {"cells": ["x"]}}))
    with pytest.raises(Damaged, match=r"page\.json is not what the run made"):
        kept.read(folder, "page")


def test_what_a_stop_left_half_done_is_put_back(folder: Path) -> None:
    folder.rename(folder.with_name(".old-page"))
    kept.restore(folder.parent)
    assert kept.read(folder, "page") is not None


def test_what_is_printed_is_one_text_in_how_many_parts_ever_the_kernel_sent_it() -> None:
    def page(*sent: str) -> NotebookNode:
        cell = new_code_cell(outputs=[new_output("stream", name="stdout", text=t) for t in sent])
        return new_notebook(cells=[cell])

    assert to_files(page("first", "\nsecond", "\n")) == to_files(page("first\nsecond\n"))


def test_every_page_is_proved_once_in_as_many_runs_as_there_are_groups() -> None:
    seconds = {"a": 5.0, "b": 400.0, "c": 300.0, "d": 700.0, "e": 20.0, "f": 100.0}
    groups = proof.groups(seconds)
    assert groups == [["b"], ["c"], ["d"], ["e", "f"]]
    assert sorted(name for group in groups for name in group) == [
        name for name in seconds if seconds[name] >= proof.SHORT
    ]


def test_no_page_of_the_book_is_out_of_date() -> None:
    book = Book(ROOT)
    assert set(book.current()) == set(book.chapters)


def test_the_facts_of_the_assignments_are_those_of_the_exercises() -> None:
    assert collected() == facts(), "type: python -m book._ext.assignment_facts"
