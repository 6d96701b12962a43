"""Test that QK-norm and experts change what they name in chapter 10's GPT, and nothing else."""

import pytest
import torch

from solutions.experiments.today.newer import DENSE, EXPERTS, NAMES, QK_NORM, Experts, made

VOCABULARY = 50


def build(name: str, seed: int = 0) -> torch.nn.Module:
    torch.manual_seed(seed)
    return made(name, VOCABULARY)


@pytest.mark.parametrize("name", NAMES)
def test_no_token_sees_a_later_one(name):
    model = build(name).eval()
    ids = torch.randint(VOCABULARY, (2, 20), generator=torch.Generator().manual_seed(1))
    changed = ids.clone()
    changed[:, 12:] = (changed[:, 12:] + 1) % VOCABULARY
    torch.testing.assert_close(model(ids)[:, :12], model(changed)[:, :12])


def test_with_qk_norm_the_size_of_a_map_makes_no_difference():
    torch.manual_seed(0)
    attention = build(QK_NORM).blocks[0].attention
    X = torch.randn(1, 5, 96)
    with torch.no_grad():
        attention.W_q.W.bias.zero_()
        before = attention(X)
        attention.W_q.W.weight *= 10
    torch.testing.assert_close(attention(X), before, rtol=1e-3, atol=1e-4)


@pytest.fixture
def experts() -> Experts:
    torch.manual_seed(0)
    return Experts(6, 10, n=4, chosen=2, nudge=0.1)


def test_a_token_passes_the_two_networks_with_the_highest_scores(experts):
    x = torch.randn(6)
    scores = experts.router(x).softmax(dim=-1)
    first, second = scores.argsort(descending=True)[:2].tolist()
    total = scores[first] + scores[second]
    networks = experts.networks
    wanted = (scores[first] * networks[first](x) + scores[second] * networks[second](x)) / total
    torch.testing.assert_close(experts.eval()(x[None, None])[0, 0], wanted)


def test_a_busy_network_is_chosen_less_often(experts):
    X = torch.randn(1, 40, 6)
    busiest = experts.route(X[0])[0].flatten().bincount(minlength=4).argmax()
    before = experts.handicap.clone()
    experts.train()(X)
    assert experts.handicap[busiest] < before[busiest]
    assert not experts.handicap.requires_grad


def test_as_many_parameters_meet_a_token_as_before():
    sizes = {name: sum(one.numel() for one in build(name).parameters()) for name in NAMES}
    gpt = sizes[QK_NORM] - 2 * 2 * 24  # without the scales of the two norms of each block
    one = sum(p.numel() for p in build(EXPERTS).blocks[0].feed_forward.networks[0].parameters())
    assert sizes[EXPERTS] - 2 * 6 * one == pytest.approx(gpt, rel=0.01)
    assert sizes[DENSE] == pytest.approx(sizes[EXPERTS], rel=0.01)
