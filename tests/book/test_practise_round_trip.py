"""Test that the practise page and the grader give the same verdicts on the same answers."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect
from site_tools import MODES, ROOT, Reader

CHAPTER = "self_attention"
PRACTISE = f"practise/{CHAPTER}.html"
START = 120_000
"""Milliseconds that Python may take to start on a busy machine."""

ANSWERS = {
    "dot_product_scores": "def dot_product_scores(X):\n    return X @ np.swapaxes(X, -1, -2) + 1\n",
    "softmax": (
        "def softmax(x, axis=-1):\n"
        "    weights = np.exp(x - x.max(axis=axis, keepdims=True))\n"
        "    return weights / weights.sum(axis=axis, keepdims=True)\n"
    ),
}
"""A wrong answer and a right one."""


def answer(page: Page, name: str) -> Locator:
    return page.locator(f'[data-cell="{name}"]')


def verdict_in_page(page: Page, name: str) -> str:
    """Check an answer; return its verdict in the grader's words."""
    cell = answer(page, name)
    cell.get_by_role("button", name=f"Check: {name}").click()
    expect(cell.locator(".practise-said").first).to_contain_text("Checked", timeout=START)
    headline = cell.locator(".practise-words").inner_text().splitlines()[0]
    if headline == f"{name}: right on the public cases":
        return "PASS"
    assert headline.startswith(f"{name}: not yet ("), headline
    return headline.removeprefix(f"{name}: not yet (").removesuffix(")")


def download(page: Page, path: Path) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    with page.expect_download() as started:
        page.get_by_role("button", name="Download as notebook").click()
    started.value.save_as(path)
    return path.read_bytes()


def autograder(command: str, *more: str | Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "autograder", command, *more],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert result.returncode == 0, result.stdout


def test_the_grader_and_the_page_agree_on_the_downloaded_notebook(
    reader: Callable[..., Reader], tmp_path: Path
) -> None:
    course = tmp_path / "course"
    handed_in = course / "submitted" / "ann" / CHAPTER / f"{CHAPTER}.ipynb"
    autograder("init", course)
    autograder("release", "--course", course, CHAPTER)

    page = reader(**MODES["light"]).open(PRACTISE)
    for name, source in ANSWERS.items():
        answer(page, name).locator(".cm-content").first.fill(source)
    in_page = {name: verdict_in_page(page, name) for name in [*ANSWERS, CHAPTER]}
    assert in_page == {"dot_product_scores": "WRONG_VALUE", "softmax": "PASS", CHAPTER: "MISSING"}
    notebook = download(page, handed_in)

    autograder("grade", "--course", course, CHAPTER)
    grades = json.loads((course / "grades.json").read_text(encoding="utf-8"))
    graded = {grade["exercise"]: grade["verdict"] for grade in grades}
    assert {name: graded[name] for name in in_page} == in_page

    again = reader(**MODES["light"]).open(PRACTISE)
    again.locator(".practise-open input").set_input_files(handed_in)
    expect(again.locator(".practise-bar .practise-said")).to_contain_text("2 answers")
    for name, source in ANSWERS.items():
        lines = answer(again, name).locator(".cm-line").all_text_contents()
        assert "\n".join(lines).rstrip("\n") == source.rstrip("\n")
    assert download(again, tmp_path / "again.ipynb") == notebook
