"""Test the experiment of chapter 13: its tasks and its measures."""

import numpy as np
import torch
import torch.nn.functional as F

from solutions.bugs_that_train import BUGS, PAD, RIGHT, SEP, STOP, Decoder
from solutions.experiments.bugs_that_train import training, writing


def test_a_copy_is_the_question_and_a_pair_depends_on_two_letters():
    for question in training.questions(np.random.default_rng(0), 20, "copy"):
        at = question.index(SEP)
        assert question[:at] == question[at + 1 : -1]
        assert question[-1] == STOP
    answers = {}
    for question in training.questions(np.random.default_rng(0), 400, "pair"):
        at = question.index(SEP)
        for i in range(at):
            pair = question[i], question[i - 1 if i else at - 1]
            assert answers.setdefault(pair, question[at + 1 + i]) == question[at + 1 + i]
    assert len(answers) == training.LETTERS**2
    assert len(set(answers.values())) == training.LETTERS


def test_padding_comes_first_and_only_answers_are_scored():
    tokens = training.batch([[3, 4, SEP, 3, 4, STOP], [5, SEP, 5, STOP]])
    assert tokens.tolist() == [[3, 4, SEP, 3, 4, STOP], [PAD, PAD, 5, SEP, 5, STOP]]
    assert training.answered(tokens).tolist() == [
        [False, False, False, True, True, True],
        [False, False, False, False, True, True],
    ]


def test_the_scored_tokens_are_those_of_the_answers():
    torch.manual_seed(0)
    tokens = training.batch([[3, 4, SEP, 3, 4, STOP], [5, SEP, 5, STOP]])
    for parts in (RIGHT, BUGS["targets_not_shifted"]):
        model = Decoder(parts, training.VOCABULARY, 16, 4, 2, 12)
        logits, targets = training.scored(model, tokens)
        assert targets.tolist() == [3, 4, STOP, 5, STOP]
        assert logits.shape == (5, training.VOCABULARY)


def test_answers_are_written_from_the_question_and_count_only_if_complete():
    def repeats(tokens):  # writes a question of two letters again, and of three
        n = tokens.shape[1]
        says = tokens[:, [max(n - 3, 0) if n < 5 else 0]]
        says = torch.where(torch.tensor(n == 5), STOP, says)
        return F.one_hot(says, training.VOCABULARY).float()

    right, wrong = [3, 4, SEP, 3, 4, STOP], [3, 4, SEP, 3, 5, STOP]
    assert writing.written(repeats, [right, right, wrong, [5, SEP, 6, STOP]]) == 0.5


def test_only_a_model_that_reads_ahead_suffers_from_a_changed_future():
    def saying(columns):
        """A model that repeats the token a fixed number of columns after the one it has read."""

        def model(tokens):
            return F.one_hot(tokens.roll(-columns, dims=1), training.VOCABULARY).float()

        model.parts = RIGHT
        return model

    tokens = training.batch([[3, 4, SEP, 3, 4, STOP], [5, 6, SEP, 5, 6, STOP]])
    for columns, accuracy, blind in ((1, 1, 0), (-2, 1, 1)):
        logits, targets = training.scored(saying(columns), tokens)
        right = (logits.argmax(-1) == targets)[targets != STOP]
        np.testing.assert_allclose(right.float().mean(), accuracy)
        np.testing.assert_allclose(training.blind(saying(columns), tokens), blind)


def test_padding_and_a_second_separator_stand_where_a_user_would_put_them():
    asked = []

    def model(tokens):
        asked.append(tokens.tolist())
        return torch.zeros(*tokens.shape, training.VOCABULARY)

    writing.written(model, [[3, 4, SEP, 3, 4, STOP]], padding=lambda n: 8 - n)
    assert asked[0] == [[PAD, PAD, 3, 4, SEP]]
    asked.clear()
    writing.written(model, [[3, 4, SEP, 3, 4, STOP]], separators=2)
    assert asked[0] == [[3, 4, SEP, SEP]]


def test_in_company_the_padding_stands_in_front_and_each_answer_has_its_own_length():
    asked = []

    def model(tokens):  # says 5, and stops after two letters
        asked.append(tokens.tolist())
        says = torch.full((len(tokens), 1), STOP if tokens.shape[1] == 5 else 5)
        return F.one_hot(says, training.VOCABULARY).float()

    held = [[5, 5, SEP, 5, 5, STOP], [5, 3, SEP, 5, 3, STOP], [3, SEP, 5, STOP]]
    assert writing.in_company(model, held, batch=3) == 1 / 3
    assert asked[0] == [[5, 5, SEP], [5, 3, SEP], [PAD, 3, SEP]]
    assert writing.in_company(model, [*held, [3, SEP, 5, 5]], batch=3) == 1 / 2


def test_hidden_scores_of_minus_ten_thousand_leak_only_below_that():
    torch.manual_seed(0)
    filled, mask = training.Filled(8, 2), torch.ones(1, 3, 3, dtype=torch.bool).tril()
    X = torch.randn(1, 3, 8)
    changed = X.clone()
    changed[0, 2] += 1
    torch.testing.assert_close(filled(X, mask)[:, :2], filled(changed, mask)[:, :2])
    with torch.no_grad():  # all visible scores are far below -10,000
        filled.W_q.weight.zero_()
        filled.W_k.weight.zero_()
        filled.W_q.bias.fill_(1e3)
        filled.W_k.bias.fill_(-1e3)
    changed = X.clone()
    changed[0, 2] += 1
    assert (filled(X, mask) - filled(changed, mask))[0, 0].abs().max() > 1e-3
