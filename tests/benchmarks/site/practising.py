"""Measure the exercises in the browser: the time of a check, and the size of the fetched files."""

from __future__ import annotations

import gzip
import re
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from site_tools import CHROMIUM, FLAGS, MODES, SITE, Reader

from tests.benchmarks.site.figures import Figure
from tests.benchmarks.site.server import COMPRESSED

PAGE = "practise/alignment.html"
"""The page whose archive is the largest."""
EXERCISE = "additive_scores"
RIGHT = """\
def additive_scores(s, H, W_s, W_h, v):
    return np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
"""
FETCHED = "performance.getEntriesByType('resource').map((entry) => entry.name.split('?')[0])"
REPORTED = """([cell, words]) =>
    document.querySelector(`[data-cell="${cell}"]`).innerText.includes(words)"""
LONGEST = 600_000  # milliseconds, on any machine


def practising(address: str) -> list[Figure]:
    """Check a right answer, then a wrong one, in a fresh profile."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = browser.new_context(**MODES["light"])
        page = Reader(context, address).open(PAGE)
        fetched = [name for name in page.evaluate(FETCHED) if name.endswith(".mjs")]
        files = {SITE / name.removeprefix(f"{address}/") for name in fetched}
        scripts = sum(map(packed, files | {SITE / "_static" / "practise" / "worker.mjs"}))
        first = seconds_to(page, RIGHT, "right on the public cases")
        later = seconds_to(page, RIGHT.replace("np.tanh", ""), "not yet")
        browser.close()
    python = sum(map(packed, python_files(SITE)))
    return [
        Figure("first_check_s", round(first, 2), 0, 6, PAGE),
        Figure("later_check_s", round(later, 2), 0, 0.3, PAGE),
        Figure("practise_kb", round(scripts), 0, 130, PAGE),
        Figure("python_kb", round(python), 0, 9500, PAGE),
    ]


def seconds_to(page: Page, text: str, words: str) -> float:
    """Type an answer and press *Check*; return the seconds until the report has these words."""
    answer = page.locator(f'[data-cell="{EXERCISE}"]')
    answer.locator(".cm-content").first.fill(text)
    check = answer.get_by_role("button", name=re.compile("^Check"))
    started = time.perf_counter()
    check.click()
    page.wait_for_function(REPORTED, arg=[EXERCISE, words], polling="raf", timeout=LONGEST)
    return time.perf_counter() - started


def python_files(site: Path) -> list[Path]:
    """Return the files that a first check fetches: Python, NumPy, and the archive."""
    archive = site / "assignments" / f"{Path(PAGE).stem}.zip"
    fetched = [file for file in (site / "_static" / "python").iterdir() if file.is_file()]
    return [archive, site / "_static" / "practise" / "notebook.py", *fetched]


def packed(path: Path) -> float:
    """Return the size of a file as a host sends it, in kilobytes."""
    data = path.read_bytes()
    return len(gzip.compress(data) if path.suffix in COMPRESSED else data) / 1000
