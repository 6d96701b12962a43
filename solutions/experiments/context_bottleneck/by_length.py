"""The trainings of chapter 1: quality against length, by language and by the width of `c`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...data.translation import Language, to_text
from ...running.seeds import SEEDS
from ...translators.machines import (
    BEYOND,
    BEYOND_CLAUSES,
    BOTTLENECK_STEPS,
    CLAUSES,
    LENGTHS,
    LONG,
    SENTENCES,
    SHORT,
    SHORT_CLAUSES,
    SHORT_LENGTHS,
    SHORT_STEPS,
    WIDTHS,
    bottleneck,
    trained,
)
from ...translators.quality import Quality, held_out_pairs, quality, translate_pairs
from ...translators.training import count_parameters

EXAMPLE_LENGTHS = tuple((n, n + 2) for n in range(4, 59, 4))
"""Source tokens of the examples, one for each bounds; short trainings stop where their tests do."""
EXAMPLE_CLAUSES = (1, 8)
"""Clauses of the examples of WHOLE_RANGE; its training has hardly a pair as long as the longest."""


@dataclass(frozen=True)
class Setting:
    """One kind of training: on how many clauses, for how many steps, tested on which lengths.

    The test sentences have as many clauses as the pairs of the training.
    """

    language: Language
    width: int
    clauses: tuple[int, int]
    steps: int
    lengths: tuple[tuple[int, int], ...]


WHOLE_RANGE = Setting("french", WIDTHS[-1], CLAUSES, BOTTLENECK_STEPS, LENGTHS)
BY_WIDTH = {
    width: Setting("german", width, SHORT_CLAUSES, SHORT_STEPS, SHORT_LENGTHS) for width in WIDTHS
}
JOBS = [(setting, seed) for setting in (WHOLE_RANGE, *BY_WIDTH.values()) for seed in SEEDS]
"""Every training of the chapter, the longest first; `measure` takes the place in this list."""


@dataclass(frozen=True)
class Example:
    """A test sentence, its reference, and what the machine wrote, as tokens."""

    source: tuple[str, ...]
    reference: tuple[str, ...]
    translation: tuple[str, ...]

    @property
    def breaks_at(self) -> int | None:
        """The place of the first wrong token of the translation, counted from 0, or None.

        A translation that ends too early or too late breaks where the shorter of the two ends.
        """
        both = zip(self.translation, self.reference, strict=False)
        for place, (ours, theirs) in enumerate(both):
            if ours != theirs:
                return place
        shorter, longer = sorted((len(self.translation), len(self.reference)))
        return None if shorter == longer else shorter


@dataclass(frozen=True)
class Measured:
    """What one training gave. by_length follows the lengths of its setting; seconds: of a core.

    short, long, beyond: the test sets of the headline numbers; None in all but WHOLE_RANGE.
    """

    setting: Setting
    by_length: list[Quality]
    short: Quality | None
    long: Quality | None
    beyond: Quality | None
    examples: list[Example]
    parameters: int
    seconds: float


def measure(job: int) -> Measured:
    """Train the machine of JOBS[job] and test it."""
    setting, seed = JOBS[job]
    machine = partial(bottleneck, d_context=setting.width)
    model, task, seconds = trained(machine, setting.language, setting.clauses, setting.steps, seed)

    def on(
        lengths: tuple[int, int], sentences: int, clauses: tuple[int, int] = setting.clauses
    ) -> Quality:
        pairs = held_out_pairs(setting.language, lengths, sentences, clauses)
        return quality(model, task, pairs)

    whole = setting == WHOLE_RANGE
    pairs = [
        held_out_pairs(setting.language, lengths, 4, EXAMPLE_CLAUSES if whole else setting.clauses)[
            0
        ]
        for lengths in EXAMPLE_LENGTHS
        if whole or lengths[1] <= setting.lengths[-1][1]
    ]
    translations = translate_pairs(model, task, pairs)
    return Measured(
        setting,
        [on(lengths, SENTENCES) for lengths in setting.lengths],
        on(SHORT, 2 * SENTENCES) if whole else None,
        on(LONG, 2 * SENTENCES) if whole else None,
        on(BEYOND, SENTENCES, BEYOND_CLAUSES) if whole else None,
        [
            Example(pair.source, pair.target, tokens)
            for pair, tokens in zip(pairs, translations, strict=True)
        ],
        count_parameters(model),
        seconds,
    )


def length_slider(runs: Sequence[Measured]) -> dict[str, list[dict[str, Any]]]:
    """Return the data of the figure in which one drags the length of the sentence.

    For the language of each run a list with one entry a length: "tokens", the number of source
    tokens; "source" and "reference", texts; "translation", its tokens; "breaks_at", the place of
    the first wrong token among them (which may be just behind the last), or None.
    """
    return {
        run.setting.language: [
            {
                "tokens": len(example.source),
                "source": to_text(example.source),
                "reference": to_text(example.reference, run.setting.language),
                "translation": list(example.translation),
                "breaks_at": example.breaks_at,
            }
            for example in run.examples
        ]
        for run in runs
    }
