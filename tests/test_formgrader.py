"""The instructor's way: nbgrader's formgrader in a real browser, on a course that we graded."""

import csv
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from classroom import MEAN_SUM, STUBS, assignments, hand_in, make_course
from playwright.sync_api import sync_playwright
from typer.testing import CliRunner

from autograder import checks, cli
from autograder.course import Course

TOKEN = "formgrader-test"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
QUIET += ["--disable-background-networking", "--disable-component-update"]
SERVER = """
import sys
from classroom import assignments
from autograder import checks
checks.assignments = assignments
from jupyter_server.serverapp import main
sys.exit(main(sys.argv[1:]))
"""
EVIL = "<script>document.title = 'run'</script>\n\nBecause of <img src=x onerror=alert(1)> rows."
STUDENTS = {
    "ann": {},
    "bob": {"mean": MEAN_SUM},
    "cay": {"mean": STUBS["row_mean"], "why": STUBS["why"]},
    "eve": {"scale": "def scale(X, factor=2.0):\n    raise ValueError('<b>no</b>')", "why": EVIL},
}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A graded class of four, and one whose notebook is damaged."""
    root = tmp_path_factory.mktemp("class") / "course"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "assignments", assignments)
        made = make_course(root)
        for student, answers in STUDENTS.items():
            hand_in(made, student, **answers)
        hand_in(made, "dan").write_bytes(b"{ not a notebook")
        result = CliRunner().invoke(cli.app, ["grade", "--course", str(root)])
        assert result.exit_code == 0, result.output
    return Course.open(root)


@pytest.fixture(scope="module")
def formgrader(course, tmp_path_factory):
    """The address of a Jupyter server that runs the formgrader in the course directory."""
    home = tmp_path_factory.mktemp("home")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--ServerApp.ip=127.0.0.1"]
    options += [f"--IdentityProvider.token={TOKEN}", "--ServerApp.open_browser=False"]
    environment = {
        **os.environ,
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(Path(__file__).parent),
    }
    log = home / "server.log"
    with log.open("wb") as stream:
        server = subprocess.Popen(
            [sys.executable, "-c", SERVER, *options, "--allow-root"],
            cwd=course.root,
            env=environment,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(f"{address}/api/status?token={TOKEN}", server, log)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()


def _wait(url, server, log):
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.3)


@pytest.fixture(scope="module")
def page(formgrader, course):
    """A page of headless Chromium, logged in; every other host is cut off."""
    if BROWSER is None:
        pytest.fail("chromium is not installed: sudo apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=QUIET)
        opened = browser.new_page(viewport={"width": 1200, "height": 1000})
        opened.route(lambda url: not url.startswith(f"{formgrader}/"), _cut_off)
        opened.goto(f"{formgrader}/login?token={TOKEN}")
        yield opened
        browser.close()


def _cut_off(route):
    """Nothing leaves this machine. The formgrader asks one other host, for MathJax."""
    assert route.request.url.startswith("https://cdnjs.cloudflare.com/"), route.request.url
    route.abort()


def _open(page, formgrader, student):
    """Open a student's submission as an instructor does: show the names, click on one."""
    page.goto(f"{formgrader}/formgrader/gradebook/toy/toy")
    page.wait_for_selector("#main-table tr:nth-child(5)")
    page.click("#toggle_names")
    page.click(f"a.name-shown:text-is('{student}')")
    page.wait_for_selector("#why")
    page.wait_for_load_state("networkidle")


def _feedback(page, exercise):
    """What stands in the comment field of an exercise: the grader's comment is its placeholder."""
    return page.locator(f"[id='{exercise}-comment']").get_attribute("placeholder")


def test_every_submission_is_listed_with_its_scores(page, formgrader):
    page.goto(f"{formgrader}/formgrader/manage_submissions/toy")
    page.wait_for_selector("#main-table tr:nth-child(5)")
    cells = [row.split("\t") for row in page.locator("#main-table tr").all_inner_texts()]
    assert {row[1]: (row[4], row[3]) for row in cells} == {
        "ann": ("5 / 10", "needs manual grading"),
        "bob": ("3 / 10", "needs manual grading"),
        "cay": ("3 / 10", "graded"),
        "dan": ("0 / 10", "graded"),
        "eve": ("2 / 10", "needs manual grading"),
    }


@pytest.mark.parametrize(
    ("student", "exercise", "feedback"),
    [
        ("ann", "scale", "3 of 3 points."),
        ("bob", "row_mean", "Misconception: sum for mean."),
        ("bob", "row_mean", "Ask yourself: How many numbers are in a row?"),
        ("cay", "row_mean", "MISSING: Not answered"),
        ("cay", "why", "No response."),
        ("dan", "scale", "MALFORMED: toy.ipynb is no notebook"),
        ("eve", "scale", "EXCEPTION: "),
        ("eve", "scale", "<b>no</b>"),
    ],
)
def test_a_submission_shows_the_named_feedback(page, formgrader, student, exercise, feedback):
    _open(page, formgrader, student)
    assert feedback in _feedback(page, exercise)


def test_the_damaged_notebook_is_shown_with_the_reason(page, formgrader):
    _open(page, formgrader, "dan")
    assert "No answer of this submission could be read." in page.inner_text("#notebook")
    assert STUBS["scale"].splitlines()[0] in page.inner_text("#notebook")


def test_a_students_text_is_shown_and_not_run(page, formgrader):
    _open(page, formgrader, "eve")
    assert "Because of <img src=x onerror=alert(1)> rows." in page.inner_text("#notebook")
    assert page.title() == "toy"
    assert page.locator("#notebook img, #notebook script").count() == 0


def test_points_for_a_written_answer_reach_the_csv_beside_the_machines(page, formgrader, course):
    _open(page, formgrader, "bob")
    page.fill("#why", "4")
    with page.expect_response(lambda response: "/api/grade/" in response.url) as saved:
        page.press("#why", "Tab")
    assert saved.value.ok
    result = CliRunner().invoke(cli.app, ["export", "--course", str(course.root)])
    assert result.exit_code == 0, result.output
    with (course.root / "grades.csv").open(newline="") as stream:
        rows = {row["student"]: row for row in csv.DictReader(stream)}
    bob = rows["bob"]
    assert (bob["row_mean"], bob["scale"], bob["why"]) == ("0.0", "3.0", "4.0")
    assert (bob["score"], bob["waiting"]) == ("7.0", "0")
    assert (rows["ann"]["why"], rows["ann"]["waiting"]) == ("", "1")


def test_the_autograde_button_grades_with_our_judge(page, formgrader, course, tmp_path):
    escaped = tmp_path / "escaped"
    hand_in(course, "cay", mean=f"open({str(escaped)!r}, 'w').write('x')\n{MEAN_SUM}")
    page.goto(f"{formgrader}/formgrader/manage_submissions/toy")
    page.wait_for_selector("#main-table tr:nth-child(5)")
    row = page.locator("#main-table tr", has=page.locator("td.student-id:text-is('cay')"))
    row.locator(".autograde a").click()
    page.wait_for_selector("#success-modal", timeout=60_000)
    page.click("#success-modal button:has-text('OK')")
    _open(page, formgrader, "cay")
    assert "EXCEPTION" in _feedback(page, "row_mean")
    assert not escaped.exists()
