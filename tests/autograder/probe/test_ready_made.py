"""What runs is seen under its own name, however it was reached, and nothing else is."""

import functools
import subprocess
import sys
import threading

import pytest
import torch
import torch.nn.functional as F
import torch_operators
from torch import nn

from autograder.probe.operators import SWITCHED_OFF
from autograder.probe.ready_made import Watch
from exercises import forbidden

X = torch.randn(2, 3, 4, requires_grad=True)
GRAPH = X.exp().sum()
BLOCK = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)

SEEN = [
    (forbidden.SOFTMAX, lambda: nn.Softmax(-1)(X), "torch.nn.functional.softmax"),
    (forbidden.SOFTMAX, lambda: torch.ops.aten._softmax(X, -1, False), "torch.ops.aten._softmax"),
    (
        forbidden.SOFTMAX,
        lambda: F.scaled_dot_product_attention(X, torch.eye(4), torch.eye(4), scale=1),
        "torch.nn.functional.scaled_dot_product_attention",
    ),
    (
        forbidden.SOFTMAX,
        lambda: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(*[X[None].detach()] * 3),
        "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu",
    ),
    (
        forbidden.SOFTMAX,
        lambda: torch.autograd.grad(torch.logsumexp(X, -1).sum(), X),
        "torch.autograd",
    ),
    (
        forbidden.SOFTMAX,
        lambda: torch.func.jvp(lambda x: x.logsumexp(-1), (X.detach(),), (X.detach(),)),
        "torch.ops.aten._make_dual",
    ),
    (forbidden.ATTENTION, lambda: BLOCK.eval()(X), "torch.nn.MultiheadAttention"),
    (forbidden.LAYER_NORM, lambda: BLOCK.norm1(X), "torch.nn.LayerNorm"),
    (forbidden.LAYER_NORM, lambda: F.rms_norm(X, (4,)), "torch.nn.functional.rms_norm"),
    (forbidden.ENCODER_LAYER, lambda: BLOCK.forward(X), "torch.nn.TransformerEncoderLayer"),
    (
        forbidden.DECODER_LAYER,
        lambda: nn.TransformerDecoderLayer(4, 2, 8)(X, X),
        "torch.nn.TransformerDecoderLayer",
    ),
    (
        forbidden.TRANSFORMER,
        lambda: nn.TransformerEncoder(BLOCK, 1, enable_nested_tensor=False)(X),
        "torch.nn.TransformerEncoder",
    ),
    (
        forbidden.CROSS_ENTROPY,
        lambda: nn.CrossEntropyLoss()(X[0], torch.tensor([0, 1, 2])),
        "torch.nn.CrossEntropyLoss",
    ),
    (forbidden.RECURRENT_NETWORK, lambda: nn.RNN(4, 4)(X), "torch.nn.RNN"),
    (forbidden.RECURRENT_NETWORK, lambda: nn.RNNCell(4, 4)(X[0]), "torch.nn.RNNCell"),
    (
        forbidden.AUTOMATIC_DIFFERENTIATION,
        lambda: torch.autograd.grad(X.exp().sum(), X),
        "torch.autograd",
    ),
    (forbidden.AUTOMATIC_DIFFERENTIATION, lambda: X.exp().sum().backward(), "torch.autograd"),
    (
        forbidden.AUTOMATIC_DIFFERENTIATION,
        lambda: torch.func.vjp(torch.exp, X.detach())[1](X.detach()),
        "torch.autograd",
    ),
    (forbidden.AUTOMATIC_DIFFERENTIATION, lambda: GRAPH.grad_fn(torch.ones(())), "torch.autograd"),
    (
        forbidden.AUTOMATIC_DIFFERENTIATION,
        lambda: torch._softmax_backward_data(X.detach(), X.detach(), -1, torch.float32),
        "torch.ops.aten._softmax_backward_data",
    ),
    (
        forbidden.AUTOMATIC_DIFFERENTIATION,
        lambda: torch.func.jvp(torch.exp, (X.detach(),), (X.detach(),)),
        "torch.ops.aten._make_dual",
    ),
]


@pytest.mark.parametrize(("names", "run", "first"), SEEN)
def test_what_is_ready_made_is_seen_under_its_own_name(names, run, first):
    with Watch(names).watching() as seen:
        run()
    assert seen[0] == first


def test_every_operator_that_computes_a_softmax_is_seen():
    found = lines_of_operators("softmax")
    assert len(found) >= 8
    assert "scaled_dot_product_attention.default" in {name for name, *_ in found}
    assert [name for name, *seen in found if not seen] == []


def test_every_derivative_that_is_an_operator_is_seen():
    found = lines_of_operators("backward")
    assert len(found) >= 200  # all but one, which ends its process
    assert "_softmax_backward_data.default" in {name for name, *_ in found}
    assert [name for name, *seen in found if not seen] == []


def lines_of_operators(what):
    """The names of operators that were run, and what a watch has seen of each."""
    command = [sys.executable, torch_operators.__file__, what]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def test_a_function_of_python_is_seen_by_its_code_in_a_thread_too():
    names = ("colorsys.rgb_to_hsv",)
    import colorsys

    alias = colorsys.rgb_to_hsv
    with Watch(names).watching() as seen:
        thread = threading.Thread(target=alias, args=(0.1, 0.2, 0.3))
        thread.start()
        thread.join()
    assert seen == list(names)


def test_what_is_written_in_c_is_seen_below_all_that_python_can_switch_off():
    norm = functools.partial(torch.layer_norm, X, (4,))  # Python's profile does not see it called
    off = torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch()
    with Watch(forbidden.LAYER_NORM).watching() as seen, off[0], off[1]:
        norm()
    assert "torch.ops.aten.native_layer_norm" in seen


def test_an_operator_is_seen_in_a_thread_that_the_answer_makes():
    norm = functools.partial(torch.layer_norm, X, (4,))
    with Watch(forbidden.LAYER_NORM).watching() as seen:
        thread = threading.Thread(target=lambda: norm())
        thread.start()
        thread.join()
    assert "torch.ops.aten.native_layer_norm" in seen


def test_a_recorder_that_somebody_else_ends_is_told():
    with Watch(forbidden.LAYER_NORM).watching() as seen:
        torch._C._autograd._disable_profiler_legacy()
    assert seen == [SWITCHED_OFF]


def test_a_function_of_the_answers_own_under_the_name_of_torchs_is_not_seen(monkeypatch):
    watch = Watch(("torch.nn.functional.softmax",))
    monkeypatch.setattr(F, "softmax", softmax)
    with watch.watching() as seen:
        F.softmax(X)
    assert seen == []


class Written(nn.LayerNorm):
    """The parts of torch's own, and a calculation that is written out."""

    def forward(self, X):
        centred = X - X.mean(-1, keepdim=True)
        return centred / ((centred**2).mean(-1, keepdim=True) + self.eps).sqrt()


def softmax(x):
    return x.exp() / x.exp().sum(-1, keepdim=True)


def test_what_is_written_out_is_not_seen_whatever_it_is_called():
    everything = (
        *forbidden.SOFTMAX,
        *forbidden.ATTENTION,
        *forbidden.LAYER_NORM,
        *forbidden.AUTOMATIC_DIFFERENTIATION,
    )
    with Watch(everything).watching() as seen:
        with torch.no_grad():
            Written(4)(X) @ softmax(X).mT
        X.detach().requires_grad_().sum()
    assert seen == []


def test_nothing_is_watched_after_it():
    before = sys.getprofile(), threading.getprofile()
    with Watch(forbidden.SOFTMAX).watching() as seen:
        pass
    X.softmax(-1)
    assert seen == []
    assert (sys.getprofile(), threading.getprofile()) == before


def test_watching_does_not_load_torchs_compiler():
    """It takes three seconds, in each process that judges an answer."""
    code = (
        "import sys, torch\n"
        "from autograder.probe.ready_made import Watch\n"
        "with Watch(('torch.softmax',)).watching() as seen: torch.softmax(torch.ones(2), 0)\n"
        "print(seen, 'torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['torch.softmax'] False"
