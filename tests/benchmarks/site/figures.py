"""The figures by which the site is judged, the limits of each, and where the worst one was."""

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
    def kept(self) -> bool:
        """True if the value is within its limits."""
        return self.least <= self.value <= self.most

    @property
    def limits(self) -> str:
        """The limits in words."""
        return f"{self.least:g} to {self.most:g}"


def of_pages(visits: Sequence[Visited]) -> list[Figure]:
    """Return what all visits together come to."""
    chapters = [one for one in visits if one.name.removesuffix(".html") in CHAPTERS]
    kilobytes, heaviest = max((one.kilobytes, one.name) for one in visits)
    shift, moving = max(place for one in visits for place in places(one, one.shifts))
    first, late = max(place for one in chapters for place in places(one, one.first_figure))
    lines = [length for one in visits for length in one.lines]
    wrong = [
        f"{one.name} ({mode}): {node}"
        for one in visits
        for mode, nodes in one.violations.items()
        for node in nodes
    ]
    return [
        Figure("page_kb_worst", round(kilobytes), 0, 700, heaviest),
        Figure("layout_shift_worst", round(shift, 3), 0, 0.05, moving),
        Figure("axe_violations", len(wrong), 0, 0, ", ".join(wrong[:1])),
        Figure("characters_a_line", statistics.median(lines), 66, 72, f"{len(lines)} lines"),
        Figure("first_figure_px_worst", round(first), 0, 600, late),
    ]


def places(visit: Visited, by_mode: Mapping[str, float]) -> list[tuple[float, str]]:
    """Return each value with the page and the mode in which it was measured."""
    return [(value, f"{visit.name} ({mode})") for mode, value in by_mode.items()]


def of_lighthouse(scores: Mapping[str, Mapping[str, float]]) -> list[Figure]:
    """Return the lowest score in each category, of those that Lighthouse gave to some pages."""
    return [
        Figure(f"lighthouse_worst.{category}", score, least, 1, page)
        for category, least in LEAST.items()
        for score, page in [min((found[category], page) for page, found in scores.items())]
    ]
