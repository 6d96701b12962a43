"""`make bench`: adapt chapter 10's published encoder to film reviews, with few examples and many.

Every way has settings. They are chosen for each number of examples on validation sentences, with a
draw of examples that is used for nothing else; every trial is recorded. Then each way learns from
the draws of all seeds, and answers for the test sentences. Every run is kept in the build folder
as soon as it is done, so that a command that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import datetime
import functools
import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from solutions.experiments.gpt_and_bert import adapting
from solutions.published.bert import BERT
from solutions.published.minilm import D_FF, D_MODEL, HEADS, LAYERS, MAX_LEN, VOCABULARY, MiniLM
from solutions.running.seeds import SEEDS, over_seeds
from tests.benchmarks.reviews import Reviews, reviews, words

RESULT = Path("book/measured/fine_tuning.json")
RUNS = Path("_build/reviews/runs")
STATES = RUNS / "states.npy"
"""What the published encoder's lower blocks compute of all sentences, one below the other."""
EPOCHS = {16: 30, 64: 12, 256: 6, 1024: 2}
"""For each number of examples, how often training sees each."""
NUMBERS = (16, 64, 256, 1024)
"""The numbers of examples of the bag of words and of the linear layers."""
STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
"""How strongly large weights of a linear layer are punished: half of this times their squares."""
TUNING_SEED = max(SEEDS) + 1
RATES = {
    "lora": (5e-4, 2e-3, 8e-3),
    "full": (3e-5, 1e-4, 3e-4),
    "fresh lora": (5e-4, 2e-3, 8e-3),
}
RANKS = {"lora": (8, 1), "full": (0,), "fresh lora": (8,)}
"""The first rank is tried with all rates, and the other with the best of these; 0 is no LoRA."""
BEGINS = {"lora": "frozen", "full": "frozen", "fresh lora": "fresh"}
"""The linear layer with which each way begins."""
BELOW = 3
"""The lowest blocks of the six, which stay as they are. What they compute is computed once."""
RANKS_AT = (16, 64, 256)
NUMBERS_OF = {"lora": (16, 64, 256, 1024), "full": (16, 64, 256), "fresh lora": (256,)}
"""Where each way is trained: "fresh lora" is LoRA on an encoder with freshly drawn weights."""


@dataclass(frozen=True)
class Job:
    """A training run of one way, with n examples.

    way: "lora" or "full"; or "fresh lora", on an encoder that has learned nothing. below: the
    number of blocks that stay as they are.
    """

    way: str
    n: int
    seed: int
    rate: float
    rank: int
    strength: float
    below: int

    def file(self) -> Path:
        """Return where the result is kept."""
        return RUNS / ("-".join(map(str, asdict(self).values())).replace(" ", "_") + ".json")


def main() -> None:
    """Tune, measure, print a table, and write it where the second page of chapter 10 reads it."""
    RUNS.mkdir(parents=True, exist_ok=True)
    linear = linear_ways()
    best = {of: one["strength"] for of, one in linear.items()}
    runs = [(way, n) for n in EPOCHS for way in RATES if n in NUMBERS_OF[way]]
    rates = [
        Job(way, n, TUNING_SEED, rate, RANKS[way][0], best[BEGINS[way], n], BELOW)
        for way, n in runs
        for rate in RATES[way]
    ]
    trials = done(rates)
    ranks = [
        replace(chosen(trials, way, n), rank=rank)
        for way, n in runs
        for rank in RANKS[way][1:]
        if n in RANKS_AT
    ]
    trials += done(ranks)
    final = [replace(chosen(trials, way, n), seed=seed) for way, n in runs for seed in SEEDS]
    write(linear, trials, done(final))


def linear_ways() -> dict[tuple[str, int], dict[str, Any]]:
    """Fit the bag of words, and linear layers on frozen vectors: chosen strength and accuracies."""
    file = RUNS / "linear.json"
    if not file.exists():
        file.write_text(json.dumps(fit_linear_ways()))
    return {(one["way"], one["n"]): one for one in json.loads(file.read_text())}


def fit_linear_ways() -> list[dict[str, Any]]:
    """Do so, whatever is kept."""
    encoder, task = the_task()
    encoders = {"frozen": encoder, "fresh": fresh(TUNING_SEED)}
    features = {}
    for way, one in encoders.items():
        states = adapting.states(one, task.rows, BELOW)
        features[way] = adapting.vectors(one.blocks[BELOW:], adapting.Examples(states, task.labels))
        if way == "frozen":
            np.save(STATES, np.concatenate(states))
    found = []
    for n in NUMBERS:
        for way in ("bag", *features):
            fit = functools.partial(fitted, task, features.get(way), n)
            scores = [fit(TUNING_SEED, strength)[0] for strength in STRENGTHS]
            strength = STRENGTHS[int(np.argmax(scores))]
            by_seed = [fit(seed, strength) for seed in SEEDS]
            accuracy = [one[1] for one in by_seed]
            of_way = {"way": way, "n": n, "strength": strength, "validation": scores}
            found.append(of_way | {"accuracy": accuracy, "parameters": by_seed[0][2]})
    return found


def fitted(
    task: Reviews, features: np.ndarray | None, n: int, seed: int, strength: float
) -> tuple[float, float, int]:
    """Fit a linear layer, on the words if there are no features.

    Returns the accuracy on validation and on test sentences, and the number of parameters.
    """
    places = task.drawn(n, seed)
    X = bag_of_words(task, places) if features is None else features
    weight, bias = logistic(X[places], task.labels[places], strength)
    answers = (X @ weight + bias > 0) == task.labels
    validation, test = (float(answers[some].mean()) for some in (task.validation, task.test))
    return validation, test, len(weight) + 1


def bag_of_words(task: Reviews, places: np.ndarray) -> np.ndarray:
    """Return which of the examples' words each sentence has: (sentences, words), 0 or 1."""
    bags = [set(words(text)) for text in task.texts]
    known = {
        word: at for at, word in enumerate(sorted(set().union(*(bags[place] for place in places))))
    }
    X = np.zeros((len(bags), len(known)))
    for row, bag in zip(X, bags, strict=True):
        row[[known[word] for word in bag if word in known]] = 1
    return X


def logistic(X: np.ndarray, labels: np.ndarray, strength: float) -> tuple[np.ndarray, float]:
    """Return the weight (d,) and bias of the logistic regression; the bias is not punished."""
    inputs, targets = torch.tensor(X, dtype=torch.float64), torch.tensor(labels.astype(float))
    w = torch.zeros(X.shape[1] + 1, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [w], max_iter=500, tolerance_grad=1e-7, line_search_fn="strong_wolfe"
    )

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        of_answers = F.binary_cross_entropy_with_logits(inputs @ w[1:] + w[0], targets)
        total = of_answers + strength / 2 * w[1:].square().sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    found = w.detach().numpy()
    return found[1:], float(found[0])


def the_task() -> tuple[BERT, Reviews]:
    """Return the published encoder and the task."""
    minilm = MiniLM()
    return minilm.encoder, reviews(minilm.tokenizer)


def fresh(seed: int) -> BERT:
    """Return the same encoder with weights that were drawn, and have learned nothing."""
    torch.manual_seed(seed)
    return BERT(VOCABULARY, D_MODEL, HEADS, D_FF, LAYERS, MAX_LEN).eval().requires_grad_(False)


def run(jobs: Sequence[Job], place: int) -> None:
    """Train as jobs[place] says, and keep the result."""
    job = jobs[place]
    began = time.perf_counter()
    encoder, task = the_task()
    scored = "validation" if job.seed == TUNING_SEED else "test"
    if job.way == "fresh lora":
        encoder = fresh(job.seed)
    train, held_out = (
        adapting.Examples(states_of(encoder, task, job, places), task.labels[places])
        for places in (task.drawn(job.n, job.seed), getattr(task, scored))
    )
    blocks = encoder.blocks[job.below :]
    weight, bias = logistic(adapting.vectors(blocks, train), train.labels, job.strength)
    torch.manual_seed(job.seed)
    if job.rank:
        adapting.add_lora(blocks, job.rank)
    else:
        blocks.requires_grad_(True)
    model = adapting.Classifier(blocks, torch.tensor(weight, dtype=torch.float32), bias)
    adapting.fine_tune(model, train, job.rate, EPOCHS[job.n], job.seed)
    answers = adapting.logits(model, held_out)
    result = asdict(job) | {
        scored: float(((answers > 0) == held_out.labels).mean()),
        "parameters": adapting.trained_parameters(model),
    }
    if job.way == "lora" and scored == "test" and job.n == max(EPOCHS):
        result |= after_merging(model, held_out, answers)
    result["seconds"] = round(time.perf_counter() - began, 1)
    job.file().write_text(json.dumps(result))
    print(result, flush=True)


def states_of(encoder: BERT, task: Reviews, job: Job, places: np.ndarray) -> list[np.ndarray]:
    """Return what the blocks below compute of some sentences; of the published ones, it is kept."""
    if job.way == "fresh lora" or job.below != BELOW:
        return adapting.states(encoder, [task.rows[place] for place in places], job.below)
    ends = np.cumsum([len(row) for row in task.rows])
    states = np.split(np.load(STATES), ends[:-1])
    return [states[place] for place in places]


def after_merging(
    model: adapting.Classifier, test: adapting.Examples, answers: np.ndarray
) -> dict[str, Any]:
    """Write the additions into the weights, and compare the answers of plain blocks."""
    plain = fresh(0).blocks[-len(model.blocks) :]
    plain.load_state_dict(adapting.merged(model.blocks))
    same = adapting.Classifier(plain, model.weight.detach(), model.bias.item())
    after = adapting.logits(same, test)
    return {
        "merged_difference": float(np.abs(after - answers).max()),
        "merged_changed": int(((after > 0) != (answers > 0)).sum()),
    }


def done(jobs: list[Job]) -> list[dict[str, Any]]:
    """Run the jobs that have no result yet, and return the results of all."""
    missing = [job for job in jobs if not job.file().exists()]
    if missing:
        over_seeds(functools.partial(run, missing), range(len(missing)), workers=2)
    return [json.loads(job.file().read_text()) for job in jobs]


def chosen(trials: list[dict[str, Any]], way: str, n: int) -> Job:
    """Return the trial that was best on validation sentences; in a tie, the smaller."""
    of_way = [one for one in trials if (one["way"], one["n"]) == (way, n)]
    best = min(of_way, key=lambda one: (-one["validation"], one["rank"], one["rate"]))
    return Job(**{name: best[name] for name in Job.__dataclass_fields__})


def write(
    linear: dict[tuple[str, int], dict[str, Any]],
    trials: list[dict[str, Any]],
    final: list[dict[str, Any]],
) -> None:
    """Write the table, and print the accuracies."""
    _, task = the_task()
    ways: dict[str, Any] = {
        way: {n: linear[way, n] for n in NUMBERS} for way in ("bag", "frozen", "fresh")
    }
    for way in RATES:
        ways[way] = {}
        for n in EPOCHS:
            runs = [one for one in final if (one["way"], one["n"]) == (way, n)]
            if runs:
                ways[way][n] = {
                    "rate": runs[0]["rate"],
                    "rank": runs[0]["rank"],
                    "accuracy": [one["test"] for one in runs],
                    "parameters": runs[0]["parameters"],
                    "seconds": [one["seconds"] for one in runs],
                }
    merging = [one for one in final if "merged_changed" in one]
    judged = task.praise[task.test] > 0
    result = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores",
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "command": "make bench",
        "numbers": list(NUMBERS),
        "test": len(task.test),
        "validation": len(task.validation),
        "majority": float(max(np.bincount(task.labels[task.test])) / len(task.test)),
        "lexicon": float((judged == task.labels[task.test]).mean()),
        "ways": ways,
        "merged_difference": max(one["merged_difference"] for one in merging),
        "merged_changed": sum(one["merged_changed"] for one in merging),
        "trials": trials,
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    for way, by_number in ways.items():
        for n, one in by_number.items():
            print(f"{way:>10} {n:>5}  ", *(f"{share:.3f}" for share in one["accuracy"]))


if __name__ == "__main__":
    main()
