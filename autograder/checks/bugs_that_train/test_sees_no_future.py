"""The exercise `test_sees_no_future`: write the test that finds a leak, in a model you know not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from solutions.variants import tests_of_bugs as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise
from ...judging.written_tests import shuffled
from .test_sees_no_future_implementations import PUBLIC, STYLES, UNSEEN


def future_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield from (*PUBLIC, *STYLES[:2])


def future_hidden(rng: np.random.Generator) -> Iterator[Case]:
    yield from shuffled(rng, STYLES, (*PUBLIC, *UNSEEN))


def test_sees_no_future__prefixes(implementation):
    torch.manual_seed(0)
    tokens = torch.randint(10, (3, 12))
    whole = implementation(tokens)
    assert torch.allclose(implementation(tokens[:1]), whole[:1], atol=1e-4)
    for n in range(1, 12):
        assert torch.allclose(implementation(tokens[:, :n]), whole[:, :n], atol=1e-4)
        other = tokens[:1].clone()
        other[0, n - 1] = 9 - other[0, n - 1]
        moved = (implementation(other) - whole[:1]).abs().sum(dim=-1)
        assert moved[0, n - 1 :].min() > 1e-4


def test_sees_no_future__table(implementation):
    generator = torch.Generator().manual_seed(3)
    tokens = torch.randint(10, (1, 11), generator=generator).expand(11, 11)
    changed = (tokens + torch.eye(11, dtype=torch.int64)) % 10
    moved = (implementation(changed) - implementation(tokens)).abs().amax(dim=-1)
    depends = moved > 1e-4  # of the change at j, position i
    np.testing.assert_array_equal(depends.numpy(), np.triu(np.ones((11, 11), dtype=bool)))


def test_sees_no_future__suffixes(implementation):
    torch.manual_seed(4)
    for n in range(1, 13):
        one = torch.randint(10, (2, 12))
        other = one.clone()
        other[1, n:] = (other[1, n:] + torch.randint(1, 10, (12 - n,))) % 10
        moved = (implementation(one) - implementation(other)).abs().amax(dim=-1)
        if (moved[0] > 1e-4).any() or (moved[1, :n] > 1e-4).any():
            raise AssertionError("it sees the future, or another sequence")
        other = one.clone()
        other[0, n - 1] = (other[0, n - 1] + 5) % 10
        moved = (implementation(one) - implementation(other)).abs().amax(dim=-1)
        if (moved[0, n - 1 :] < 1e-4).any():
            raise AssertionError("it does not see what it should")


def test_sees_no_future__shape(implementation):
    assert implementation(torch.zeros(2, 5, dtype=torch.int64)).shape == (2, 5, 10)


def test_sees_no_future__short(implementation):
    torch.manual_seed(0)
    tokens = torch.randint(10, (2, 6))
    before = implementation(tokens)
    for position in range(6):
        changed = tokens.clone()
        changed[0, position] = (changed[0, position] + 3) % 10
        moved = (implementation(changed) - before).abs().amax(dim=-1)
        assert (moved[0, :position] < 1e-4).all()
        assert (moved[1] < 1e-4).all()
        assert (moved[0, position:] > 1e-4).all()


def test_sees_no_future__last_token_only(implementation):
    torch.manual_seed(0)
    tokens = torch.randint(10, (1, 12))
    changed = tokens.clone()
    changed[0, -1] = (changed[0, -1] + 3) % 10
    before, after = implementation(tokens), implementation(changed)
    assert torch.allclose(before[:, :-1], after[:, :-1], atol=1e-4)


def test_sees_no_future__leaks_only(implementation):
    torch.manual_seed(0)
    tokens = torch.randint(10, (2, 12))
    before = implementation(tokens)
    for position in range(12):
        changed = tokens.clone()
        changed[0, position] = (changed[0, position] + 3) % 10
        moved = (implementation(changed) - before).abs().amax(dim=-1)
        assert (moved[0, :position] < 1e-4).all()
        assert (moved[1] < 1e-4).all()


def test_sees_no_future__one_sequence(implementation):
    torch.manual_seed(0)
    tokens = torch.randint(10, (1, 12))
    before = implementation(tokens)
    for position in range(12):
        changed = tokens.clone()
        changed[0, position] = (changed[0, position] + 3) % 10
        moved = (implementation(changed) - before).abs().amax(dim=-1)
        assert (moved[0, :position] < 1e-4).all()
        assert (moved[0, position:] > 1e-4).all()


def test_sees_no_future__to_the_last_bit(implementation):
    torch.manual_seed(0)
    tokens = torch.randint(10, (2, 12))
    before = implementation(tokens)
    for position in range(12):
        changed = tokens.clone()
        changed[0, position] = (changed[0, position] + 3) % 10
        after = implementation(changed)
        assert torch.equal(before[0, :position], after[0, :position])
        assert torch.equal(before[1], after[1])
        assert not (before[0, position:] == after[0, position:]).all(dim=-1).any()


MISCONCEPTIONS = (
    Misconception(
        "only the shape",
        test_sees_no_future__shape,
        "A model that sees the future has logits of the right shape. What do they depend on?",
    ),
    Misconception(
        "short sequences only",
        test_sees_no_future__short,
        "How long do sequences get? What if the mask was made once, for fewer positions?",
    ),
    Misconception(
        "only the last token is changed",
        test_sees_no_future__last_token_only,
        "A leak may lead from the second position to the first. Do you look there?",
    ),
    Misconception(
        "asks what is hidden, never what is seen",
        test_sees_no_future__leaks_only,
        "A model that reads nothing at all has no leak. Would your test accept it?",
    ),
    Misconception(
        "one sequence at a time",
        test_sees_no_future__one_sequence,
        "What else is in the batch, and may it change what is said here?",
    ),
    Misconception(
        "equal to the last bit",
        test_sees_no_future__to_the_last_bit,
        "May two sums of the same numbers differ in the last digit?",
    ),
)

TEST_SEES_NO_FUTURE = Exercise(
    name="test_sees_no_future",
    points=5,
    difficulty=4,
    minutes=30,
    reference=solutions.test_sees_no_future,
    cases=future_cases,
    hidden=future_hidden,
    misconceptions=MISCONCEPTIONS,
    alternatives=(
        test_sees_no_future__prefixes,
        test_sees_no_future__table,
        test_sees_no_future__suffixes,
    ),
    help=(
        "You know none of the logits, but you know which of them may move. Change one token, call "
        "the model again, and look where the logits have changed, and where not.",
        "Every position in turn, in sequences as long as they get, in a batch of two. Ask both: "
        "nothing before the change moves, and everything from there on does.",
        "The section “Change one thing, and see what moves”, and the leak of chapter 9.",
    ),
    promises=(
        Promise("It is called `implementation(tokens)`", ("position by position",)),
        Promise("n up to 12", ("a mask that is made for eight positions, and there are more",)),
        Promise("logits of shape (batch, n, 10)", ("each position sees one token ahead",)),
        Promise(
            "tokens of their own sequence up to and with position i, and on each of these",
            (
                "a token does not see itself",
                "nothing is remembered for longer than one position",
                "sequences of a batch see each other",
            ),
        ),
        Promise("you know none of the logits", ("no mask at all",)),
        Promise("Raises AssertionError", ("the mask the wrong way round",)),
        Promise("may differ in the fifth digit", ("the sum of all, less what comes after",)),
    ),
    kind=Kind.TEST,
)
