"""Test the task of two relations, the proof about one head, and the removal of heads."""

from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from solutions.experiments.multi_head import losses, one_blend
from solutions.experiments.multi_head.switches import try_all_subsets
from solutions.experiments.multi_head.training import TIMES, held_out, train
from solutions.experiments.multi_head.two_relations import (
    SHARES,
    GivenShares,
    TwoRelations,
    accuracies,
    places,
    sequences,
)
from solutions.experiments.queries_keys_values.associative_recall import NUMBERS


def test_a_sequence_holds_both_answers():
    letters, numbers, asked, answers = sequences(200, torch.Generator().manual_seed(7))
    for row in range(200):
        stored = dict(zip(letters[row].tolist(), numbers[row].tolist(), strict=True))
        letter = int(asked[row])
        assert answers[row].tolist() == [stored[letter], stored[letter ^ 1]]
    result = places(letters, asked)
    assert (letters.gather(1, result) == torch.stack([asked, asked ^ 1], dim=1)).all()


def test_removing_heads_removes_only_their_contributions():
    torch.manual_seed(0)
    model = TwoRelations(2)
    test = sequences(6, torch.Generator().manual_seed(1))
    letters, numbers, asked, _ = test
    with torch.no_grad():
        full = model(letters, numbers, asked)[0]
        parts = [model.without([h])(letters, numbers, asked)[0] for h in (0, 1)]
        nothing = model.without([0, 1])(letters, numbers, asked)[0]
        torch.testing.assert_close(parts[0] + parts[1], full + nothing)
        bias = model.read_out.bias.reshape(2, NUMBERS)
        torch.testing.assert_close(nothing, bias.expand_as(nothing))
        torch.testing.assert_close(model(letters, numbers, asked)[0], full)  # the model is whole
    assert accuracies(model, test)[0] <= min(accuracies(model, test)[1:])


def test_importance_in_the_model_is_measured_on_its_output():
    torch.manual_seed(0)
    model = TwoRelations(2)
    letters, numbers, asked, _ = test = sequences(6, torch.Generator().manual_seed(1))
    question, keys, values = (
        model.letter(asked)[:, None],
        model.letter(letters),
        model.number(numbers),
    )
    with torch.no_grad():
        full = model.attend(question, keys, values)[0][:, 0]
        for h, result in enumerate(model.importance(test).tolist()):
            rest = model.without([h]).attend(question, keys, values)[0][:, 0]
            change = (full - rest).norm(dim=-1) / full.norm(dim=-1)
            assert result == pytest.approx(change.mean().item(), rel=1e-4)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**31), st.permutations(range(NUMBERS)))
def test_one_head_cannot_answer_four_sequences_of_three_numbers(seed, drawn):
    """Check the chapter's two-line proof on random models: the sums of margins are coupled."""
    torch.manual_seed(seed)
    model = TwoRelations(1).double()
    letters, numbers, asked, _ = sequences(1, torch.Generator().manual_seed(seed))
    own, partner = places(letters, asked)[0].tolist()
    numbers[:] = torch.tensor(drawn[: letters.shape[1]])
    x, y, third = drawn[-3:]  # not among the numbers of the others

    def margin(pair, relation):
        """Return the margin of the right answer of y and x over the wrong one."""
        numbers[0, own], numbers[0, partner] = pair
        logits = model(letters, numbers, asked)[0][0, relation]
        right = pair[relation]
        return (logits[right] - logits[y if right == x else x]).item()

    alpha, beta = model(letters, numbers, asked)[1][0, 0, [own, partner]].tolist()
    for relation, share, other in ((1, beta, alpha), (0, alpha, beta)):
        turned = margin((x, y), relation) + margin((y, x), relation)
        pairs = ((third, x), (third, y)) if relation else ((x, third), (y, third))
        beside = sum(margin(pair, relation) for pair in pairs)
        # if all four were positive, `share` would exceed `other`; for both relations: impossible
        assert turned * share == pytest.approx(beside * (share - other), abs=1e-9)


def test_stored_shares_are_at_their_positions():
    letters, numbers, asked, _ = sequences(5, torch.Generator().manual_seed(1))
    model = GivenShares(1, 3)
    logits, weights = model(letters, numbers, asked)
    assert logits.shape == (5, 2, NUMBERS)
    result = weights[:, 0].gather(1, places(letters, asked))
    torch.testing.assert_close(result, torch.tensor([SHARES] * 5))
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(5, 1))


def test_rate_is_chosen_on_other_sequences_than_the_reported_ones():
    _, run = train(partial(TwoRelations, 2), 0.003, seed=0, steps=2 * TIMES)
    assert run.validation != run.accuracy[2 * TIMES][0]


def test_switches_count_every_subset_once_and_follow_an_order():
    torch.manual_seed(0)
    model, (test, ranking) = TwoRelations(4), held_out(0)
    switches = try_all_subsets(model, test, ranking)
    assert [len(switches.with_removed(k)) for k in range(5)] == [1, 4, 6, 4, 1]
    in_order = switches.in_order([2, 0, 3, 1])
    expected = [accuracies(model.without([2, 0, 3, 1][:k]), test)[0] for k in range(5)]
    assert in_order.tolist() == pytest.approx(expected)
    assert switches.importance.tolist() == pytest.approx(model.importance(ranking).tolist())


def test_one_head_reaches_one_half_by_hand():
    model, (test, _) = one_blend.half_by_hand(), held_out(0)
    both, own, partner = accuracies(model, test)
    answers = test[-1]
    assert both == own == partner == (answers[:, 0] > answers[:, 1]).float().mean()
    readers = one_blend.larger_and_smaller(16)
    assert one_blend.pairs_read_right(*readers, torch.tensor([0.5, 0.5])) == 16 * 15 // 2


def test_allowed_pairs_are_at_most_half_of_the_square():
    assert [one_blend.most_pairs(m) for m in (2, 3, 4)] == [2, 4, 8]


@pytest.mark.parametrize("m", [2, 4, 6, 10, 16])
def test_twins_answer_half_of_the_square(m):
    assert one_blend.pairs_read_right(*one_blend.twins(m)) == m * m // 2


def test_losses_by_hand():
    answers = torch.tensor([[0, 1], [0, 0]])
    logits = torch.zeros(2, 2, NUMBERS)
    logits[0, 0, 0] = 50.0  # certain, and right
    logits[1, 1, 3] = 50.0  # certain, and wrong
    ln = torch.tensor(float(NUMBERS)).log().item()
    assert losses.mean_of_both(logits, answers).item() == pytest.approx((0 + ln + ln + 50) / 4)
    assert losses.worse_of_both(logits, answers).item() == pytest.approx((ln + 50) / 2)
    tied = (NUMBERS - 1) / NUMBERS  # each wrong logit as high as the right one
    beaten = (51 + NUMBERS - 2) / NUMBERS
    expected = (0 + tied + tied + beaten) / 4
    assert losses.mean_of_margins(logits, answers).item() == pytest.approx(expected)
