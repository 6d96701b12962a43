"""The score of rotary heads by distance, which the reader stretches.

A pair of features adds A cos(w d + phi) to the score of the record at distance d. This module
writes the figure for readers without scripts, and on paper: the first head with the positions it
was trained with, in sequences STRETCHED times as long. `book/_web/distance_curves.mjs` adds the
controls, and draws the same lines again.
"""

import json
import math
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from ..alignment import softmax
from ..positions import frequencies
from .figure_tables import two_digits

STRETCHED = 4
"""The length shown at first, as a multiple of the trained one."""
PEAK = 0.9
"""A peak reaches this share of the score that the asked distance has in training."""
LISTED = 5
"""The number of false peaks in the table."""

LEFT, WIDTH = 40, 304
TOP, HEIGHT = 22, 118
"""The room of the curve, below the numbers of its peaks."""
FOOT, BARS = 226, 62
"""The lower edge of the bars, and the height of the longest."""
FINE, LABEL = 4, 22
"""The points of the curve for each position, and the room that a peak's number takes."""
CEILINGS = (0.1, 0.2, 0.5, 1)


def distance_curves(data: dict[str, Any]) -> str:
    """Return the figure as HTML.

    data: heads, a list of dictionaries with a name, amplitudes and phases, (rates,) each: the score
    of the record at distance d, as the softmax gets it, is the sum of amplitude * cos(w_i d +
    phase) over the pairs i, with w_i = base^(-i/rates). base: that of training. rates: the number
    of pairs. trained_length: the longest distance in training.
    """
    numbers = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    shown = _measure(data)
    return (
        '<div class="play distances"><div class="play-beside"><div class="distances-picture">'
        '<p class="play-note">Above: score by distance. Below: weight. Grey: the distances of'
        f" training. Dashed: {100 * PEAK:g}\N{NO-BREAK SPACE}% of the score that the asked distance"
        " has in training. A peak anywhere else that reaches this line is a <em>false peak</em>."
        f"</p>{_picture(shown)}</div>"
        f'<div><div class="distances-peaks">{_peaks(shown)}</div>{_pairs(shown)}</div></div>'
        f'<script type="application/json">{numbers}</script>'
        '</div><script type="module" src="_static/distance_curves.mjs"></script>'
    )


@dataclass(frozen=True)
class _Shown:
    """What is shown at first, as `measured` in `distances.mjs` computes it.

    speeds, amplitudes, phases: of the pairs, (rates,). reach: the trained length.
    """

    name: str
    amplitudes: np.ndarray
    phases: np.ndarray
    speeds: np.ndarray
    reach: int

    def added(self, distances: np.ndarray) -> np.ndarray:
        angles = np.multiply.outer(distances, self.speeds) + self.phases
        return self.amplitudes * np.cos(angles)

    @property
    def length(self) -> int:
        return STRETCHED * self.reach

    @property
    def limit(self) -> float:
        return float(self.amplitudes.sum())

    @cached_property
    def scores(self) -> np.ndarray:
        return self.added(np.arange(self.length + 2)).sum(axis=-1)

    @cached_property
    def weights(self) -> np.ndarray:
        return np.concatenate([[0], softmax(self.scores[1:-1])])

    @cached_property
    def asked(self) -> int:
        return 1 + int(self.scores[1 : self.reach + 1].argmax())

    @cached_property
    def peaks(self) -> list[int]:
        scores, least = self.scores, PEAK * self.scores[self.asked]
        return [
            d
            for d in range(1, self.length + 1)
            if scores[d - 1] < scores[d] >= max(scores[d + 1], least)
        ]

    @property
    def wrong(self) -> list[int]:
        return [peak for peak in self.peaks if peak != self.asked]

    @property
    def compared(self) -> int:
        return (*self.wrong, self.asked)[0]


def _measure(data: dict[str, Any]) -> _Shown:
    head = data["heads"][0]
    amplitudes, phases = np.array(head["amplitudes"]), np.array(head["phases"])
    speeds = frequencies(2 * data["rates"], data["base"])
    return _Shown(head["name"], amplitudes, phases, speeds, data["trained_length"])


def _picture(shown: _Shown) -> str:
    length, limit, asked = shown.length, shown.limit, shown.asked
    score = shown.scores[asked]
    return (
        f'<svg viewBox="0 0 {LEFT + WIDTH + 12} {FOOT + 24}" role="img"'
        f' aria-label="{escape(_described(shown))}">'
        f'<rect class="trained" x="{LEFT}" y="{TOP}" width="{WIDTH * shown.reach / length:.1f}"'
        f' height="{FOOT - TOP}"/>{_axes(shown)}'
        f'<path class="threshold" d="M{LEFT} {_down(PEAK * score, limit):.1f}h{WIDTH}"/>'
        f'<path class="asked" d="M{_across(asked, length):.1f} {_down(score, limit):.1f}V{FOOT}"/>'
        f"{_bars(shown, wrong=False)}{_bars(shown, wrong=True)}{_curve(shown)}"
        f'<g class="marks">{_marks(shown)}</g></svg>'
    )


def _curve(shown: _Shown) -> str:
    distances = np.arange(FINE * shown.length + 1) / FINE
    points = " ".join(
        f"{_across(d, shown.length):.1f},{_down(score, shown.limit):.1f}"
        for d, score in zip(distances, shown.added(distances).sum(axis=-1), strict=True)
    )
    return f'<polyline class="curve" points="{points}"/>'


def _axes(shown: _Shown) -> str:
    limit = f"{shown.limit:.0f}"
    rows = (("limit", limit, TOP), ("zero", "0", TOP + HEIGHT / 2))
    bars = (("ceiling", f"{_ceiling(shown):g}", FOOT - BARS), ("none", "0", FOOT))
    numbers = "".join(
        f'<path class="grid" d="M{LEFT} {y:g}h{WIDTH}"/>'
        f'<text class="{name}" x="{LEFT - 6}" y="{y + 4:g}" text-anchor="end">{text}</text>'
        for name, text, y in (*rows, *bars)
    )
    return (
        f'{numbers}<text x="{LEFT}" y="{FOOT + 17}">0</text>'
        f'<text x="{LEFT + WIDTH / 2:g}" y="{FOOT + 17}" text-anchor="middle">distance</text>'
        f'<text class="end" x="{LEFT + WIDTH}" y="{FOOT + 17}" text-anchor="end">'
        f"{shown.length}</text>"
    )


def _marks(shown: _Shown) -> str:
    marks, last = "", -math.inf
    for peak in shown.peaks:
        x, y = _across(peak, shown.length), _down(shown.scores[peak], shown.limit)
        kind = "true" if peak == shown.asked else "false"
        marks += f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
        if x - last >= LABEL:
            marks += (
                f'<text class="{kind}" x="{x:.1f}" y="{y - 8:.1f}" text-anchor="middle">'
                f"{peak}</text>"
            )
            last = x
    return marks


def _bars(shown: _Shown, wrong: bool) -> str:
    bars = "".join(
        f"M{_across(d, shown.length):.1f} {FOOT}v-{BARS * weight / _ceiling(shown):.1f}"
        for d, weight in enumerate(shown.weights)
        if d > 0 and (d in shown.wrong) == wrong
    )
    width = max(1, 0.7 * WIDTH / shown.length)
    return f'<path class="{("bars", "wrong-bars")[wrong]}" d="{bars}" stroke-width="{width:.1f}"/>'


def _ceiling(shown: _Shown) -> float:
    return next(one for one in CEILINGS if one >= shown.weights.max())


def _across(distance: float, length: int) -> float:
    return LEFT + WIDTH * distance / length


def _down(score: float, limit: float) -> float:
    return TOP + HEIGHT * (1 - score / limit) / 2


def _described(shown: _Shown) -> str:
    wrong = ", ".join(map(str, shown.wrong)) or "none"
    return (
        f"Score and weight of {shown.name} by distance, from 0 to {shown.length}. Asked for"
        f" {shown.asked}, it looks most at {int(shown.weights.argmax())}. False peaks:"
        f" {wrong}."
    )


def _peaks(shown: _Shown) -> str:
    rows = "".join(
        f'<tr class="{("", "looks")[d == shown.asked]}"><th scope="row">{d}</th>'
        f"<td>{one_digit(shown.scores[d])}</td><td>{two_digits(shown.weights[d])}</td></tr>"
        for d in (shown.asked, *shown.wrong[:LISTED])
    )
    return (
        '<table class="peaks"><caption>The asked distance, and the first false peaks</caption>'
        '<thead><tr><th scope="col">distance</th><th scope="col">score</th>'
        f'<th scope="col">weight</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _pairs(shown: _Shown) -> str:
    turns = shown.speeds * (shown.compared - shown.asked) / (2 * math.pi)
    adds = shown.added(np.array(shown.compared))
    rows = "".join(
        f'<tr><th scope="row">{pair}</th><td>{_grouped(2 * math.pi / shown.speeds[pair])}</td>'
        f"<td>{two_digits(turns[pair])}</td><td>{one_digit(adds[pair])}</td>"
        f"<td>{one_digit(shown.amplitudes[pair])}</td></tr>"
        for pair in range(len(turns))
    )
    return (
        '<table class="pairs"><caption>How far each pair has turned at'
        f" {shown.compared}, against {shown.asked} in training, and what it adds to the"
        " score</caption>"
        '<thead><tr><th scope="col">pair</th><th scope="col">period</th>'
        '<th scope="col">turns</th><th scope="col">adds</th><th scope="col">at most</th></tr>'
        f"</thead><tbody>{rows}</tbody></table>"
    )


def one_digit(value: float) -> str:
    """Format a number with one digit after the point, and never as "-0.0"."""
    return f"{0.0 if abs(value) < 0.05 else value:.1f}".replace("-", "\N{MINUS SIGN}")


def _grouped(value: float) -> str:
    return f"{float(f'{value:.3g}'):,.12g}"
