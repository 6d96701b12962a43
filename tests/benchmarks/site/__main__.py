"""`make bench-site`: measure each page of the built site, and compare with the limits.

Writes `_build/bench.json`, prints a table, and exits with 1 if a limit is broken. As many pages are
open at a time as there are processors. Lighthouse measures times, so it runs alone afterwards.
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
        heaviest = max(visits, key=lambda visit: visit.kilobytes).name
        judged = [*JUDGED, next(name for name in names if name.startswith(SEARCH)), heaviest]
        scores = {}
        for name in dict.fromkeys(judged):
            scores[name] = lighthouse(f"{address}/{name}")
            say(f"Lighthouse, {name}: {scores[name]}")
        practised = practising(address)
    figures = of_pages(visits) + of_lighthouse(scores) + practised
    record(as_recorded(figures))
    say("", *rows(figures), sep="\n")
    return 0 if all(figure.within_limits for figure in figures) else 1


def pages(site: Path) -> list[str]:
    """Return the addresses of all pages relative to the site's. The search page gets a query."""
    names = pages_of(site)
    if not names:
        sys.exit(f"There is no page in {site}. Type: make site")
    return [f"{name}?q=attention" if name == SEARCH else name for name in names]


def visit_all(names: list[str], address: str, late: str) -> list[Visited]:
    """Visit the pages, as many at a time as there are processors."""
    visits = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for visit in pool.map(lambda name: visited(name, address, late), names):
            visits.append(visit)
            violations = sum(map(len, visit.violations.values()))
            say(
                f"{len(visits):2} of {len(names)}  {visit.name}: {visit.kilobytes:.0f} kB, moved "
                f"by {max(visit.shifts.values()):.3f}, axe: {violations}, first figure at "
                f"{max(visit.first_figure.values()):.0f} px"
            )
    return visits


def as_recorded(figures: Iterable[Figure]) -> dict[str, Any]:
    """Return the values by name, those of Lighthouse by category, and the worst page of each."""
    values: dict[str, Any] = {}
    for figure in figures:
        name, _, category = figure.name.partition(".")
        if category:
            values.setdefault(name, {})[category] = figure.value
        else:
            values[name] = figure.value
    return values | {"site_worst_pages": {figure.name: figure.where for figure in figures}}


def rows(figures: Iterable[Figure]) -> list[str]:
    """Return the table, with a line for each figure."""
    return [
        f"{figure.name:32} {figure.value:>7g}  {figure.limits:>10}  "
        f"{'' if figure.within_limits else 'BROKEN':6}  {figure.where[:80]}"
        for figure in figures
    ]


def say(*lines: str, sep: str = " ") -> None:
    print(*lines, sep=sep, flush=True)


if __name__ == "__main__":
    sys.exit(main())
