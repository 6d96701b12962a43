"""Test the instruments of chapter 1 on machines whose result is known."""

import numpy as np
import torch

from solutions.data.translation import sample_pairs
from solutions.data.translation.vocabulary import STOP
from solutions.experiments.context_bottleneck import inside
from solutions.translators.machines import bottleneck
from solutions.translators.training import make_task

TASK = make_task("french", (1, 1), 60, 0)


def machine():
    torch.manual_seed(0)
    return bottleneck(len(TASK.source_vocabulary), len(TASK.target_vocabulary), 16).eval()


def test_listening_is_the_norm_of_the_jacobian():
    encoder = machine().encoder
    ids = torch.randint(4, len(TASK.source_vocabulary), (1, 4))

    def context(X):
        last = encoder.rnn(X[None])[1]
        return torch.cat([last[0, 0], last[1, 0]])

    table = torch.autograd.functional.jacobian(context, encoder.embedding(ids)[0].detach())
    norms = torch.linalg.matrix_norm(table.transpose(0, 1), ord=2)  # (4, 16, d_e)
    np.testing.assert_allclose(inside.listening(encoder, ids)["both"], norms, rtol=1e-4)


def test_a_cell_takes_the_same_steps_as_its_direction_of_the_gru():
    encoder = machine().encoder
    X = encoder.embedding(torch.randint(4, len(TASK.source_vocabulary), (2, 5))).detach()
    last = encoder.rnn(X)[1]
    for row, end, words in ((0, "", X), (1, "_reverse", X.flip(1))):
        cell = inside.cell_of(encoder.rnn, end).float()
        h = torch.zeros(2, encoder.rnn.hidden_size)
        for t in range(5):
            h = cell(words[:, t], h)
        torch.testing.assert_close(h, last[row])


def test_content_words_are_rare_and_linked_once():
    pair = sample_pairs("french", 1, np.random.default_rng(1))[0]
    rare = np.full(len(pair.source), 10_000)
    links = inside.content_links(pair, rare)
    targets = [target for target, _ in links]
    assert links
    assert len(set(targets)) == len(targets)
    assert set(links) <= pair.sure
    assert inside.content_links(pair, np.full(len(pair.source), 5)) == []


def test_a_machine_that_always_says_stop_knows_no_word():
    model = machine()
    with torch.no_grad():
        model.decoder.read_out.to_logits.bias[STOP] = 1e4
    for shares in inside.words_by_position(model, TASK, TASK.pairs):
        assert (shares == 0).all()


def test_an_uninformative_c_can_be_swapped_without_loss():
    model = machine()
    with torch.no_grad():
        for parameter in model.encoder.rnn.parameters():
            parameter.zero_()  # the states stay 0, and so does c
    own, another, guessed = inside.words_by_position(model, TASK, TASK.pairs)
    np.testing.assert_array_equal(own, another)
    np.testing.assert_array_equal(own, guessed)
