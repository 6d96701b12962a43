"""What the playground shows where a chapter asks: seven questions, three seeds, each a range.

The settings are those of `book/_web/learning/questions.json`. `pytest -s` prints all numbers.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

LEARNED = Path(__file__).parents[1] / "web" / "learning" / "learned.mjs"
SEEDS = ("0", "1", "2")


@cache
def measured(question: str) -> dict[str, list[dict[str, Any]]]:
    """What each machine of a question learned, from each of SEEDS, by its name."""
    command = ["node", str(LEARNED), question, *SEEDS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    machines: dict[str, list[dict[str, Any]]] = {}
    print()
    for run in json.loads(done.stdout):
        machines.setdefault(run["name"], []).append(run)
        groups = " ".join(
            f"{name}: {share:.2f}" for name, share in run["groups"].items() if share is not None
        )
        tried = " ".join(f"tried: {share:.2f}" for share in run["tried"])
        print(
            f"{question:9} {run['name']:24} seed {run['seed']}  learned at {run['at'] or '-':>4}"
            f"  accuracy {run['whole']:.3f}  loss {run['loss']:.3f}  {groups}  {tried}"
        )
    return machines


def within(
    runs: list[dict[str, Any]], low: float, high: float, of: Callable[[dict[str, Any]], float]
) -> None:
    found = [of(run) for run in runs]
    assert all(low <= one <= high for one in found), f"{runs[0]['name']}: {found}"


def accuracy(run: dict[str, Any]) -> float:
    return run["whole"]


def farthest(run: dict[str, Any]) -> float:
    """Accuracy in the last of its groups."""
    return list(run["groups"].values())[-1]


def steps(run: dict[str, Any]) -> float:
    """The step at which the task was learned, to .99; infinity if it never was."""
    return run["at"] or float("inf")


def test_one_head_cannot_serve_two_relations_and_two_can() -> None:
    machines = measured("heads")
    within(machines["one head"], 0, 0.3, accuracy)
    within(machines["two heads"], 60, 300, steps)


def test_without_the_scale_wide_vectors_learn_nothing_and_narrow_ones_do() -> None:
    machines = measured("scale")
    for name in ("width 16", "width 16, no scale"):
        within(machines[name], 60, 240, steps)
    within(machines["width 128"], 0, 100, steps)
    within(machines["width 128, no scale"], 0, 0.3, accuracy)


def test_without_positions_there_is_no_before_and_none_reaches_further_than_it_learned() -> None:
    machines = measured("positions")
    within(machines["none"], 0.1, 0.3, accuracy)
    for name in ("learned", "sinusoidal", "rotary"):
        within(machines[name], 0.98, 1, accuracy)
        within(machines[name], 0, 0.4, lambda run: run["tried"][0])
    within(machines["rotary"], 40, 160, steps)
    within(machines["sinusoidal"], 160, 400, steps)


def test_where_q_is_k_the_partner_is_found_half_the_time() -> None:
    machines = measured("partner")
    within(machines["no parameters"], 0.2, 0.65, accuracy)
    within(machines["Q = K"], 0.4, 0.65, accuracy)
    within(machines["Q, K, V"], 40, 160, steps)


def test_a_far_token_is_carried_by_all_but_the_convolution_until_it_is_very_far() -> None:
    machines = measured("far")
    within(machines["convolution, 32"], 0.2, 0.6, accuracy)
    within(machines["convolution, 32"], 0.05, 0.35, farthest)
    within(machines["mean, 32"], 100, 300, steps)
    within(machines["mean, 64"], 0.95, 1, accuracy)
    within(machines["mean, 128"], 0.6, 0.95, accuracy)
    for length, soonest, latest in ((32, 40, 160), (64, 100, 280), (128, 140, 380)):
        within(machines[f"GRU, {length}"], soonest, latest, steps)
        within(machines[f"self-attention, {length}"], 40, 180, steps)


def test_without_the_mask_a_machine_knows_what_nobody_can_know() -> None:
    machines = measured("mask")
    within(machines["with the mask"], 0, 0.15, lambda run: run["groups"]["unknown"])
    within(machines["without it"], 0.97, 1, lambda run: run["groups"]["unknown"])
    within(machines["with the mask"], 2.5, 3.3, lambda run: run["loss"])
    within(machines["without it"], 0, 0.4, lambda run: run["loss"])


def test_two_blocks_copy_and_need_the_residual_sum_but_no_norm() -> None:
    machines = measured("blocks")
    within(machines["one block"], 0.1, 0.45, accuracy)
    within(machines["two blocks"], 140, 360, steps)
    within(machines["two blocks, no residual"], 0.2, 0.7, accuracy)
    within(machines["two blocks, no norm"], 140, 360, steps)
