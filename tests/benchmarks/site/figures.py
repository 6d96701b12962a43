"""Summarise the measurements of the site as figures, each with its limits and its worst page."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cells import CHAPTERS

from tests.benchmarks.site.lighthouse import LEAST
from tests.benchmarks.site.visiting import Visited


@dataclass(frozen=True)
class Figure:
    """A measured value, its limits, and the page that it was measured on."""

    name: str
    value: float
    least: float
    most: float
    where: str

    @property
    def within_limits(self) -> bool:
        """Return True if the value is within its limits."""
        return self.least <= self.value <= self.most

    @property
    def limits(self) -> str:
        """Return the limits in words."""
        return f"{self.least:g} to {self.most:g}"


def of_pages(visits: Sequence[Visited]) -> list[Figure]:
    """Return the figures of all visits."""
    chapters = [visit for visit in visits if visit.name.removesuffix(".html") in CHAPTERS]
    kilobytes, heaviest = max((visit.kilobytes, visit.name) for visit in visits)
    shift, moving = max(place for visit in visits for place in places(visit, visit.shifts))
    first, late = max(place for visit in chapters for place in places(visit, visit.first_figure))
    lines = [length for visit in visits for length in visit.lines]
    violations = [
        f"{visit.name} ({mode}): {node}"
        for visit in visits
        for mode, nodes in visit.violations.items()
        for node in nodes
    ]
    return [
        Figure("page_kb_worst", round(kilobytes), 0, 700, heaviest),
        Figure("layout_shift_worst", round(shift, 3), 0, 0.05, moving),
        Figure("axe_violations", len(violations), 0, 0, ", ".join(violations[:1])),
        Figure("characters_a_line", statistics.median(lines), 66, 72, f"{len(lines)} lines"),
        Figure("first_figure_px_worst", round(first), 0, 600, late),
    ]


def places(visit: Visited, by_mode: Mapping[str, float]) -> list[tuple[float, str]]:
    """Return each value with the page and the mode in which it was measured."""
    return [(value, f"{visit.name} ({mode})") for mode, value in by_mode.items()]


def of_lighthouse(scores: Mapping[str, Mapping[str, float]]) -> list[Figure]:
    """Return the lowest score of Lighthouse in each category, with its page."""
    return [
        Figure(f"lighthouse_worst.{category}", score, least, 1, page)
        for category, least in LEAST.items()
        for score, page in [min((by_page[category], page) for page, by_page in scores.items())]
    ]
