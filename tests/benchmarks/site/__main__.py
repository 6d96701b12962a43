"""`make bench-site`: the built site, page by page, beside the limits that it is to keep.

Writes `_build/bench.json`, prints a table, and ends with 1 where a limit is broken. Two pages are
open at a time; then Lighthouse, which takes the time, has the machine to itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from site_tools import SITE, pages_of, serving

from tests.benchmarks.bench_file import record
from tests.benchmarks.site.figures import Figure, of_lighthouse, of_pages
from tests.benchmarks.site.lighthouse import lighthouse
from tests.benchmarks.site.practising import practising
from tests.benchmarks.site.server import Compressing, FontsLate
from tests.benchmarks.site.visiting import Visited, visited

JUDGED = ("index.html", "context_bottleneck.html", "self_attention.html")
SEARCH = "search.html"


def main() -> int:
    """Measure, write, print; return the exit code."""
    names = pages(SITE)
    with serving(SITE, Compressing) as address, serving(SITE, FontsLate) as late:
        visits = visit_all(names, address, late)
        heaviest = max(visits, key=lambda one: one.kilobytes).name
        judged = [*JUDGED, next(name for name in names if name.startswith(SEARCH)), heaviest]
        scores = {}
        for name in dict.fromkeys(judged):
            scores[name] = lighthouse(f"{address}/{name}")
            say(f"Lighthouse, {name}: {scores[name]}")
        practised = practising(address)
    figures = of_pages(visits) + of_lighthouse(scores) + practised
    record(as_recorded(figures))
    say("", *rows(figures), sep="\n")
    return 0 if all(one.kept for one in figures) else 1


def pages(site: Path) -> list[str]:
    """Return the addresses of all pages below the site's; the search has something to look for."""
    names = pages_of(site)
    if not names:
        sys.exit(f"There is no page in {site}. Type: make site")
    return [f"{name}?q=attention" if name == SEARCH else name for name in names]


def visit_all(names: list[str], address: str, late: str) -> list[Visited]:
    """Visit the pages, as many at a time as there are processors."""
    visits = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for one in pool.map(lambda name: visited(name, address, late), names):
            visits.append(one)
            wrong = sum(map(len, one.violations.values()))
            say(
                f"{len(visits):2} of {len(names)}  {one.name}: {one.kilobytes:.0f} kB, moved by "
                f"{max(one.shifts.values()):.3f}, axe: {wrong}, first figure at "
                f"{max(one.first_figure.values()):.0f} px"
            )
    return visits


def as_recorded(figures: Iterable[Figure]) -> dict[str, Any]:
    """Return the values by name, those of Lighthouse by category, and where the worst ones were."""
    values: dict[str, Any] = {}
    for one in figures:
        name, _, category = one.name.partition(".")
        if category:
            values.setdefault(name, {})[category] = one.value
        else:
            values[name] = one.value
    return values | {"site_worst_pages": {one.name: one.where for one in figures}}


def rows(figures: Iterable[Figure]) -> list[str]:
    """Return the table, a line each."""
    return [
        f"{one.name:32} {one.value:>7g}  {one.limits:>10}  {'' if one.kept else 'BROKEN':6}  "
        f"{one.where[:80]}"
        for one in figures
    ]


def say(*lines: str, sep: str = " ") -> None:
    print(*lines, sep=sep, flush=True)


if __name__ == "__main__":
    sys.exit(main())
