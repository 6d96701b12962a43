"""The playground in Chromium: what it weighs, how fast it is, how long a question takes.

    python -m tests.benchmarks.playground

Writes `_build/bench.json`. `playground_seconds_to_learn` is from *Train* to the end of the run, at
the pace that the page proposes; `playground_steps_a_second` is as fast as it can.
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
    engine = [one for kernel in KERNELS for one in told_by(kernel).values()]
    with sync_playwright() as playwright, serving(SITE) as address:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        speeds = {name: speed(page, address, asked) for name, asked in SETTINGS.items()}
        found = {
            "playground_kb": round(weight(), 1),
            "playground_steps_a_second": speeds,
            "playground_seconds_to_learn": {
                name: seconds(page, address, one["settings"], one["pace"])
                for name, one in json.loads(QUESTIONS.read_text(encoding="utf-8")).items()
            },
            "playground_gradient_error": max(max(gradient_errors(one).values()) for one in engine),
            "playground_loss_error": max(max(loss_errors(one)) for one in engine),
            "playground_machine": f"{processor()}, Chromium {browser.version}",
        }
        browser.close()
    record(found)
    print(json.dumps(found, indent=1))


def weight() -> float:
    """Return the kilobytes of all that is the playground's own, each file compressed."""
    static = SITE / "_static"
    files = [one for folder in ("learning", "playground") for one in (static / folder).iterdir()]
    return sum(len(gzip.compress(one.read_bytes())) for one in files) / 1000


def start(page: Page, address: str, asked: str, pace: int) -> None:
    """Begin the training of machines, at one of the paces of the slider."""
    page.goto(f"{address}/playground.html?{asked}")
    page.get_by_role("slider", name="Pace").fill(str(pace))
    page.get_by_role("button", name="Train", exact=True).click()
    page.wait_for_function("document.querySelector('.pg-step').textContent")


def steps(page: Page) -> int:
    return int(page.inner_text(".pg-step").split()[1])


def speed(page: Page, address: str, asked: str) -> float:
    """Return the steps of a second, as fast as it can; the median of three seconds."""
    start(page, address, asked, pace=4)
    marks = []
    for _ in range(SECONDS):
        marks.append((time.perf_counter(), steps(page)))
        page.wait_for_timeout(1000)
    rates = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(marks)]
    return round(statistics.median(rates))


def seconds(page: Page, address: str, asked: str, pace: int) -> float:
    """Return the seconds from *Train* to the end of the run."""
    begun = time.perf_counter()
    start(page, address, asked, pace)
    page.wait_for_selector(".playground[data-state=after]", timeout=120_000)
    return round(time.perf_counter() - begun, 1)


if __name__ == "__main__":
    main()
