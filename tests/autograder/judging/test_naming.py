"""Names are earned: of answers that make no known mistake alone, hardly any gets a wrong name."""

from collections import Counter

import numpy as np
from naming import HEADING, KINDS, line, tally

from autograder.checks import assignments

MOST_WRONG = 0.02
MOST_PAIRS, MOST_EDITS = 12, 3
"""So many of each exercise, about in the proportion of all: a share, in under a minute."""
SLOW = {"transformer.Transformer"}
"""The full measure, `python -m tests.support.naming`, has them too."""


def test_at_most_two_per_cent_of_the_answers_get_a_wrong_name():
    total = Counter[str](), Counter[str]()
    print(HEADING)
    for assignment in assignments().values():
        for exercise in assignment.exercises:
            name = f"{assignment.name}.{exercise.name}"
            if name in SLOW:
                continue
            with np.errstate(all="ignore"):
                found = tally(exercise, MOST_PAIRS, MOST_EDITS)
            print(line(name, found))
            for sums, counts in zip(total, found, strict=True):
                sums.update(counts)
    print(line("all", total))
    answers = total[0] + total[1]
    assert answers.total() > 500
    assert all(answers[kind] for kind in KINDS if kind != "wrongly")
    assert answers["wrongly"] <= MOST_WRONG * answers.total()
