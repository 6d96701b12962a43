"""The exercise `test_reads_no_answer`: find the leak where only the losses are known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from solutions.variants import tests_of_leaks as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise
from ...judging.written_tests import shuffled
from .test_reads_no_answer_implementations import PUBLIC, STYLES, UNSEEN


def answer_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield from (*PUBLIC, *STYLES[:2])


def answer_hidden(rng: np.random.Generator) -> Iterator[Case]:
    yield from shuffled(rng, STYLES, (*PUBLIC, *UNSEEN))


def test_reads_no_answer__all_sentences(implementation):
    every = torch.cartesian_prod(*[torch.arange(1, 10)] * 3)
    sources = torch.tensor([[8, 6, 7]]).expand(729, 3)
    losses = implementation(sources, every)
    assert abs(losses.neg().sum(dim=1).exp().sum() - 1) < 1e-3
    for at in (0, 100, 728):
        padded = torch.tensor([[8, 6, 7, 0, 0], [1, 1, 1, 1, 1]])
        targets = torch.cat((every[[at, 5]], torch.tensor([[0], [4]])), dim=1)
        row = implementation(padded, targets)[0].tolist()
        np.testing.assert_allclose(row, [*losses[at].tolist(), 0], atol=1e-4)
    by_place = losses.reshape(9, 9, 9, 3)
    np.testing.assert_allclose(by_place[..., 0].neg().exp()[:, 0, 0].sum(), 1, atol=1e-4)
    assert by_place[..., :1].std(dim=(1, 2)).max() < 1e-4
    assert by_place[..., 1].std(dim=2).max() < 1e-4
    assert by_place[3, :, :, 1:].std(dim=0)[0].min() > 1e-4
    assert by_place[:, 4, 4, 1:].std(dim=0).min() > 1e-4
    assert by_place[4, :, 4, 2].std() > 1e-4
    for at in range(3):
        tried = torch.tensor([[8, 6, 7]]).repeat(9, 1)
        tried[:, at] = torch.arange(1, 10)
        assert implementation(tried, every[:1].expand(9, 3)).std(dim=0).min() > 1e-4


def test_reads_no_answer__one_call_a_sentence(implementation):
    generator = torch.Generator().manual_seed(1)
    source = torch.randint(1, 10, (5,), generator=generator)
    target = torch.randint(1, 10, (6,), generator=generator)

    def losses(at, token, which):
        pair = [source.clone(), target.clone()]
        pair[which][at] = token
        return implementation(pair[0][None], pair[1][None])[0].double().numpy()

    for at in range(6):
        tried = np.array([losses(at, token, 1) for token in range(1, 10)])
        np.testing.assert_allclose(np.exp(-tried[:, at]).sum(), 1, atol=1e-4)
        depends = np.ptp(tried, axis=0) > 1e-4
        np.testing.assert_array_equal(depends, np.arange(6) >= at)
    for at in range(5):
        tried = np.array([losses(at, token, 0) for token in range(1, 10)])
        assert (np.ptp(tried, axis=0) > 1e-4).all()
    sources = torch.stack((source.flip(0), source)).repeat(2, 1)
    targets = torch.stack((target.flip(0), target)).repeat(2, 1)
    sources[3, 3:] = targets[3, 4:] = 0
    batch = implementation(sources, targets)
    short = implementation(sources[3:, :3], targets[3:, :4])[0]
    assert np.allclose(batch[1], losses(0, target[0], 1), atol=1e-4)
    assert np.allclose(batch[3], [*short, 0, 0], atol=1e-4)


def test_reads_no_answer__by_properties(implementation):
    sources = torch.tensor([[4, 4, 9, 2], [7, 0, 0, 0], [1, 5, 3, 0]])
    targets = torch.tensor([[6, 1, 1, 5], [3, 9, 8, 0], [2, 0, 0, 0]])
    before = implementation(sources, targets)
    if (before[targets == 0] != 0).any():
        raise AssertionError("padding has no loss")
    for row, (n, m) in enumerate(((4, 4), (1, 3), (3, 1))):
        alone = implementation(sources[row, None, :n], targets[row, None, :m])
        if not torch.allclose(before[row, :m], alone[0], atol=1e-4):
            raise AssertionError("company and padding should change nothing")
    for place in range(4):
        shares, spread = 0.0, []
        for token in range(1, 10):
            other = targets.clone()
            other[0, place] = token
            losses = implementation(sources, other)[0]
            shares += float(torch.exp(-losses[place]))
            spread.append(losses)
        if abs(shares - 1) > 1e-4:
            raise AssertionError("it knows which token stands there")
        moved = torch.stack(spread).std(dim=0) > 1e-4
        if moved[:place].any() or not moved[place + 1 :].all():
            raise AssertionError("it should read what stands before, and that alone")
    for place in range(4):
        other = sources[:1].repeat(9, 1)
        other[:, place] = torch.arange(1, 10)
        if (implementation(other, targets[:1].repeat(9, 1)).std(dim=0) < 1e-4).any():
            raise AssertionError("it should read the whole source")


def test_reads_no_answer__shape(implementation):
    losses = implementation(torch.tensor([[3, 1], [4, 0]]), torch.tensor([[2, 7, 1], [8, 2, 0]]))
    assert losses.shape == (2, 3)
    assert (losses >= 0).all()


def test_reads_no_answer__later_tokens_only(implementation):
    source, target = torch.tensor([[3, 1, 4, 1]]), torch.tensor([[2, 7, 1, 8]])
    before = implementation(source, target)
    for place in range(4):
        changed = target.clone()
        changed[0, place] = 10 - changed[0, place]
        after = implementation(source, changed)
        assert torch.allclose(before[:, :place], after[:, :place], atol=1e-4)


def test_reads_no_answer__all_but_the_place_itself(implementation):
    source, target = torch.tensor([[3, 1, 4, 1]]), torch.tensor([[2, 7, 1, 8]])
    sources = torch.tensor([[3, 1, 4, 1, 0], [5, 9, 2, 6, 5]])
    targets = torch.tensor([[2, 7, 1, 8, 0], [2, 8, 1, 8, 2]])
    alone, together = implementation(source, target)[0], implementation(sources, targets)[0]
    assert torch.allclose(together, torch.cat((alone, 0 * alone[:1])), atol=1e-4)
    for place in range(4):
        tried = target.repeat(9, 1)
        tried[:, place] = torch.arange(1, 10)
        moved = implementation(source.expand(9, 4), tried).std(dim=0)
        assert (moved[:place] < 1e-4).all()
        assert (moved[place + 1 :] > 1e-4).all()
        tried = source.repeat(9, 1)
        tried[:, place] = torch.arange(1, 10)
        assert (implementation(tried, target.expand(9, 4)).std(dim=0) > 1e-4).all()


def test_reads_no_answer__leaks_only(implementation):
    source, target = torch.tensor([[3, 1, 4, 1]]), torch.tensor([[2, 7, 1, 8]])
    sources = torch.tensor([[3, 1, 4, 1, 0], [5, 9, 2, 6, 5]])
    targets = torch.tensor([[2, 7, 1, 8, 0], [2, 8, 1, 8, 2]])
    alone, together = implementation(source, target)[0], implementation(sources, targets)[0]
    assert torch.allclose(together, torch.cat((alone, 0 * alone[:1])), atol=1e-4)
    for place in range(4):
        tried = target.repeat(9, 1)
        tried[:, place] = torch.arange(1, 10)
        losses = implementation(source.expand(9, 4), tried)
        assert abs(float(torch.exp(-losses[:, place]).sum()) - 1) < 1e-4
        assert (losses.std(dim=0)[:place] < 1e-4).all()


def test_reads_no_answer__no_padding(implementation):
    source, target = torch.tensor([[3, 1, 4, 1]]), torch.tensor([[2, 7, 1, 8]])
    for place in range(4):
        tried = target.repeat(9, 1)
        tried[:, place] = torch.arange(1, 10)
        losses = implementation(source.expand(9, 4), tried)
        assert abs(float(torch.exp(-losses[:, place]).sum()) - 1) < 1e-4
        moved = losses.std(dim=0)
        assert (moved[:place] < 1e-4).all()
        assert (moved[place + 1 :] > 1e-4).all()
        tried = source.repeat(9, 1)
        tried[:, place] = torch.arange(1, 10)
        assert (implementation(tried, target.expand(9, 4)).std(dim=0) > 1e-4).all()


def test_reads_no_answer__its_own_token_too(implementation):
    source, target = torch.tensor([[3, 1, 4, 1]]), torch.tensor([[2, 7, 1, 8]])
    before = implementation(source, target)
    for place in range(4):
        changed = target.clone()
        changed[0, place] = 10 - changed[0, place]
        after = implementation(source, changed)
        assert torch.allclose(before[:, : place + 1], after[:, : place + 1], atol=1e-4)


def test_reads_no_answer__as_bad_as_guessing(implementation):
    generator = torch.Generator().manual_seed(0)
    sources, targets = torch.randint(1, 10, (2, 64, 5), generator=generator)
    assert float(implementation(sources, targets).mean()) > np.log(9)


def test_reads_no_answer__nine_digits(implementation):
    source, target = torch.tensor([[3, 1, 4, 1]]), torch.tensor([[2, 7, 1, 8]])
    sources = torch.tensor([[3, 1, 4, 1, 0], [5, 9, 2, 6, 5]])
    targets = torch.tensor([[2, 7, 1, 8, 0], [2, 8, 1, 8, 2]])
    alone, together = implementation(source, target)[0], implementation(sources, targets)[0]
    assert (together - torch.cat((alone, 0 * alone[:1]))).abs().max() < 1e-9
    for place in range(4):
        tried = target.repeat(9, 1)
        tried[:, place] = torch.arange(1, 10)
        losses = implementation(source.expand(9, 4), tried)
        assert abs(float(torch.exp(-losses[:, place]).sum()) - 1) < 1e-9
        moved = losses.std(dim=0)
        assert (moved[:place] < 1e-9).all()
        assert (moved[place + 1 :] > 1e-9).all()
        tried = source.repeat(9, 1)
        tried[:, place] = torch.arange(1, 10)
        assert (implementation(tried, target.expand(9, 4)).std(dim=0) > 1e-9).all()


MISCONCEPTIONS = (
    Misconception(
        "only the shape, and the sign",
        test_reads_no_answer__shape,
        "A machine that copies the answer has losses of the right shape. What should they rest on?",
    ),
    Misconception(
        "only that later tokens change nothing",
        test_reads_no_answer__later_tokens_only,
        "What if a place reads its own answer, or too little? Would anything you look at change?",
    ),
    Misconception(
        "the place itself is not asked",
        test_reads_no_answer__all_but_the_place_itself,
        "You change every token but the one whose loss you read. How would a machine that has read "
        "that token give itself away, if you tried all nine?",
    ),
    Misconception(
        "asks what is hidden, never what is seen",
        test_reads_no_answer__leaks_only,
        "A machine that reads nothing has no leak. Would your test accept it?",
    ),
    Misconception(
        "no padding, and no company",
        test_reads_no_answer__no_padding,
        "Batches are padded. Does a sentence have the same losses there as alone?",
    ),
    Misconception(
        "the loss may not move with its own token",
        test_reads_no_answer__its_own_token_too,
        "The loss is the surprise at the token that stands there. Is another as probable?",
    ),
    Misconception(
        "only that the loss is not too low",
        test_reads_no_answer__as_bad_as_guessing,
        "A machine that leaks at one place, or that reads too little, has a loss like any other. "
        "What else do you know of the losses of a right one?",
    ),
    Misconception(
        "equal to nine digits",
        test_reads_no_answer__nine_digits,
        "How many digits has a number of float32? And if two sums are taken in another order?",
    ),
)

TEST_READS_NO_ANSWER = Exercise(
    name="test_reads_no_answer",
    points=5,
    difficulty=4,
    minutes=30,
    reference=solutions.test_reads_no_answer,
    cases=answer_cases,
    hidden=answer_hidden,
    misconceptions=MISCONCEPTIONS,
    alternatives=(
        test_reads_no_answer__all_sentences,
        test_reads_no_answer__one_call_a_sentence,
        test_reads_no_answer__by_properties,
    ),
    help=(
        "You know none of the losses. Put each of the nine tokens at one place of the target, all "
        "else equal, and look at the losses of all places: before it, after it, and there.",
        "Before the place no loss moves; after it every loss does. At the place itself the loss "
        "moves in any case, but exp(-loss) is a probability: what do nine of them sum to? Do the "
        "same with the source. Then put the sentence into a padded batch.",
        "The leak test in the section “The target, shifted right”, and “Where people go wrong”.",
    ),
    promises=(
        Promise("It is called `implementation(sources, targets)`", ("a recurrent network",)),
        Promise("0 for padding", ("the cross-attention sees the source's padding",)),
        Promise("makes the decoder's inputs and all masks", ("the targets are not shifted",)),
        Promise("float32 or float64", ("masks that are added, in float64", "sums, in float64")),
        Promise("and 0 at padding", ("the loss counts the target's padding",)),
        Promise(
            "sum to 1",
            (
                "the targets are not shifted",
                "the causal mask lets one place too many through",
                "the first token stands where the start should",
            ),
        ),
        Promise(
            "all tokens of the source and on all those of the target before that place",
            (
                "a place sees the whole target but its own token",
                "the cross-attention has a causal mask",
                "the causal mask hides the token just before, too",
                "only the token just before is read",
            ),
        ),
        Promise(
            "not on padding, and not on the other rows",
            ("the encoder sees the source's padding", "the sentences of a batch see each other"),
        ),
        Promise("The machine is unknown", ("place by place, without padding",)),
        Promise("Raises AssertionError", ("no causal mask at all",)),
        Promise("may differ in the fifth digit", ("sums, in float64",)),
    ),
    kind=Kind.TEST,
)
