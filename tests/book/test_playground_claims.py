"""Test the chapters' claims about machines that readers train, as ranges over three seeds.

The settings are those of `book/_web/playground/questions.json` and of its puzzles. A change is one
that the sentence below a playground proposes. `pytest -s` prints every seed.
"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from site_tools import ROOT

FOLDER = ROOT / "book" / "_web" / "playground"
QUESTIONS = json.loads((FOLDER / "questions.json").read_text(encoding="utf-8"))
PUZZLES = json.loads((FOLDER / "puzzles.json").read_text(encoding="utf-8"))
LEARNED = ROOT / "tests" / "web" / "playground" / "learned.mjs"
SEEDS = 3
SECOND = "vs."
KEPT_WITHIN = 0.15
"""Other processors round differently, and a run may then diverge from the expected one."""

Run = dict[str, Any]


def machines(address: str) -> list[dict[str, str]]:
    """Return the settings of the one or two machines of an address."""
    parts = dict(setting.split("=") for setting in address.split("&"))
    first = {name: value for name, value in parts.items() if not name.startswith(SECOND)}
    second = {n.removeprefix(SECOND): value for n, value in parts.items() if n.startswith(SECOND)}
    return [first, first | second] if second else [first]


def learned(settings: dict[str, str], tried: str = "") -> list[Run]:
    """Train a machine from each seed, once for all questions about it."""
    return trained("&".join(f"{name}={settings[name]}" for name in sorted(settings)), tried)


@cache
def trained(address: str, tried: str) -> list[Run]:
    command = ["node", str(LEARNED), str(SEEDS), address, *tried.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    for run in runs:
        print(json.dumps(run))
    return runs


def accuracy(run: Run) -> float:
    return run["accuracy"]


def step(run: Run) -> float:
    """Return the step at which 95 % were right; infinity if there is none."""
    return run["learned"] or math.inf


def better(run: Run) -> float:
    return max(run["groups"])


def worse(run: Run) -> float:
    return min(run["groups"])


def within_the_window(run: Run) -> float:
    """Return the accuracy at distances 3 and 4, the last within a window of five."""
    return run["groups"][2]


def farthest(run: Run) -> float:
    return run["groups"][-1]


def unknown(run: Run) -> float:
    """Return the accuracy on letters that cannot be known."""
    return run["groups"][1]


def longest(run: Run) -> float:
    """Return the accuracy at the last of the tried lengths."""
    return run["tried"][-1]


Claim = tuple[str, str, int, Callable[[Run], float], float, float]
CLAIMS: list[Claim] = [  # question, change, machine, what, from, to
    ("a-far-token", "", 0, step, 100, 240),
    ("a-far-token", "", 1, step, 40, 120),
    ("a-far-token", "&body=convolution", 0, within_the_window, 0.9, 1),
    ("a-far-token", "&body=convolution", 0, farthest, 0, 0.3),
    ("a-far-token", "&task=later", 1, accuracy, 0.3, 0.65),
    ("a-far-token", "&task=later&body=gru", 0, accuracy, 0.9, 1),
    ("who-carries-it", "", 0, accuracy, 0.75, 0.95),
    ("who-carries-it", "", 1, step, 40, 200),
    ("who-carries-it", "&length=64", 0, step, 180, 400),
    ("who-carries-it", "&length=32", 0, step, 100, 240),
    ("who-carries-it", "&length=32", 1, step, 40, 120),
    ("who-carries-it", "&body=gru", 0, accuracy, 0.95, 1),
    ("q-is-k", "", 0, accuracy, 0.4, 0.62),
    ("q-is-k", "", 1, accuracy, 0.98, 1),
    ("q-is-k", "&task=own", 0, accuracy, 0.98, 1),
    ("scale-off", "", 0, accuracy, 0, 0.3),
    ("scale-off", "", 1, accuracy, 0.98, 1),
    ("scale-off", "&width=16&vs.width=16", 0, accuracy, 0.9, 1),
    ("scale-off", "&width=16&vs.width=16", 1, accuracy, 0.9, 1),
    ("one-head-or-two", "", 0, accuracy, 0.08, 0.25),
    ("one-head-or-two", "", 0, better, 0.85, 1),
    ("one-head-or-two", "", 0, worse, 0.08, 0.25),
    ("one-head-or-two", "", 1, accuracy, 0.98, 1),
    ("one-head-or-two", "&vs.heads=8", 1, accuracy, 0.98, 1),
    ("without-positions", "", 0, accuracy, 0.12, 0.3),
    ("without-positions", "", 1, accuracy, 0.98, 1),
    ("without-positions", "", 1, longest, 0, 0.25),
    ("without-residual", "", 0, accuracy, 0.35, 0.9),
    ("without-residual", "", 1, accuracy, 0.95, 1),
    ("without-residual", "&vs.norm=false", 1, accuracy, 0.95, 1),
    ("mask-off", "", 0, unknown, 0, 0.12),
    ("mask-off", "", 1, unknown, 0.95, 1),
    ("one-block-or-two", "", 0, accuracy, 0.15, 0.35),
    ("one-block-or-two", "", 1, accuracy, 0.95, 1),
    ("one-block-or-two", "&heads=8&vs.heads=2", 0, accuracy, 0.08, 0.35),
]


def changed(settings: str, change: str) -> str:
    """Return an address with some of its values replaced."""
    parts = dict(setting.split("=") for setting in (settings + change).split("&"))
    return "&".join(f"{name}={value}" for name, value in parts.items())


@pytest.mark.parametrize(("question", "change", "machine", "what", "low", "high"), CLAIMS)
def test_each_claim_of_a_chapter_holds_for_all_seeds(
    question: str, change: str, machine: int, what: Callable[[Run], float], low: float, high: float
) -> None:
    settings_of_question = QUESTIONS[question]
    settings = machines(changed(settings_of_question["settings"], change))[machine]
    longer = " ".join(map(str, settings_of_question.get("longer", ()))) if what is longest else ""
    values = [what(run) for run in learned(settings, longer)]
    assert len(values) == SEEDS
    assert all(low <= value <= high for value in values), values


def test_each_question_has_a_claim() -> None:
    assert {question for question, *_ in CLAIMS} == set(QUESTIONS)


@pytest.mark.parametrize("puzzle", PUZZLES, ids=[puzzle["name"] for puzzle in PUZZLES])
def test_a_puzzle_fails_at_first_and_is_solved_by_its_answer(puzzle: dict[str, str]) -> None:
    (settings,) = machines(puzzle["settings"])
    (answered,) = machines(f"{puzzle['settings']}&{puzzle['answer']}")
    assert max(accuracy(run) for run in learned(settings)) < 0.8
    assert min(accuracy(run) for run in learned(answered)) > 0.92


@pytest.mark.parametrize("question", QUESTIONS)
def test_stored_runs_match_a_fresh_run(question: str) -> None:
    stored = json.loads((FOLDER / "kept" / f"{question}.json").read_text(encoding="utf-8"))
    assert stored["settings"] == QUESTIONS[question]["settings"]
    for settings, shares in zip(machines(stored["settings"]), stored["accuracy"], strict=True):
        assert abs(accuracy(learned(settings)[stored["seed"]]) - shares[-1]) < KEPT_WITHIN
