"""Measure the playground in Chromium: its size, its speed, and the time that a question takes.

    python -m tests.benchmarks.playground

Writes `_build/bench.json`. `playground_seconds_to_learn` is the time from *Train* to the end of the
run, at the pace that the page proposes. `playground_steps_a_second` is the speed at the fastest
pace.
"""

from __future__ import annotations

import gzip
import json
import statistics
import time
from itertools import pairwise

from engine_in_torch import KERNELS, gradient_errors, loss_errors, told_by
from playwright.sync_api import Page, sync_playwright
from site_tools import CHROMIUM, FLAGS, ROOT, SITE, serving

from book._ext.course_build.machine import processor
from tests.benchmarks.bench_file import record

SETTINGS = {
    "attention, 32 places": "task=far&steps=5000",
    "GRU, 32 places": "task=far&body=gru&steps=5000",
    "two blocks, 24 places": "task=copying&layers=2&heads=2&positions=rotary&residual=true"
    "&norm=true&steps=5000",
}
SECONDS = 4
QUESTIONS = ROOT / "book" / "_web" / "playground" / "questions.json"


def main() -> None:
    """Measure, write and print."""
    engine = [report for kernel in KERNELS for report in told_by(kernel).values()]
    with sync_playwright() as playwright, serving(SITE) as address:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        speeds = {name: speed(page, address, asked) for name, asked in SETTINGS.items()}
        measured = {
            "playground_kb": round(weight(), 1),
            "playground_steps_a_second": speeds,
            "playground_seconds_to_learn": {
                name: seconds(page, address, question["settings"], question["pace"])
                for name, question in json.loads(QUESTIONS.read_text(encoding="utf-8")).items()
            },
            "playground_gradient_error": max(max(gradient_errors(r).values()) for r in engine),
            "playground_loss_error": max(max(loss_errors(report)) for report in engine),
            "playground_machine": f"{processor()}, Chromium {browser.version}",
        }
        browser.close()
    record(measured)
    print(json.dumps(measured, indent=1))


def weight() -> float:
    """Return the compressed size of all files of the playground, in kilobytes."""
    static = SITE / "_static"
    files = [file for folder in ("learning", "playground") for file in (static / folder).iterdir()]
    return sum(len(gzip.compress(file.read_bytes())) for file in files) / 1000


def start(page: Page, address: str, asked: str, pace: int) -> None:
    """Start a training run with the settings `asked`, at a pace of the slider."""
    page.goto(f"{address}/playground.html?{asked}")
    page.get_by_role("slider", name="Pace").fill(str(pace))
    page.get_by_role("button", name="Train", exact=True).click()
    page.wait_for_function("document.querySelector('.pg-step').textContent")


def steps(page: Page) -> int:
    return int(page.inner_text(".pg-step").split()[1])


def speed(page: Page, address: str, asked: str) -> float:
    """Return the steps per second at the fastest pace, as the median of three seconds."""
    start(page, address, asked, pace=4)
    marks = []
    for _ in range(SECONDS):
        marks.append((time.perf_counter(), steps(page)))
        page.wait_for_timeout(1000)
    rates = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(marks)]
    return round(statistics.median(rates))


def seconds(page: Page, address: str, asked: str, pace: int) -> float:
    """Return the seconds from *Train* to the end of the run."""
    started = time.perf_counter()
    start(page, address, asked, pace)
    page.wait_for_selector(".playground[data-state=after]", timeout=120_000)
    return round(time.perf_counter() - started, 1)


if __name__ == "__main__":
    main()
