"""Test that ready-made functions are recorded by name, however reached, and no others."""

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

READY_MADE = [
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


@pytest.mark.parametrize(("names", "run", "first"), READY_MADE)
def test_ready_made_function_is_recorded_by_its_name(names, run, first):
    with Watch(names).watching() as recorded:
        run()
    assert recorded[0] == first


def test_every_softmax_operator_is_recorded():
    lines = lines_of_operators("softmax")
    assert len(lines) >= 8
    assert "scaled_dot_product_attention.default" in {name for name, *_ in lines}
    assert [name for name, *recorded in lines if not recorded] == []


def test_every_backward_operator_is_recorded():
    lines = lines_of_operators("backward")
    assert len(lines) >= 200  # every operator except one that ends its process
    assert "_softmax_backward_data.default" in {name for name, *_ in lines}
    assert [name for name, *recorded in lines if not recorded] == []


def lines_of_operators(kind):
    """Return (operator, recorded names...) for each operator of a kind that was run."""
    command = [sys.executable, torch_operators.__file__, kind]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split() for line in process.stdout.splitlines()]


def test_python_function_is_recognised_by_its_code_in_threads_too():
    names = ("colorsys.rgb_to_hsv",)
    import colorsys

    alias = colorsys.rgb_to_hsv
    with Watch(names).watching() as recorded:
        thread = threading.Thread(target=alias, args=(0.1, 0.2, 0.3))
        thread.start()
        thread.join()
    assert recorded == list(names)


def test_c_function_is_recorded_below_pythons_dispatch():
    norm = functools.partial(torch.layer_norm, X, (4,))  # invisible to Python's profile function
    off = torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch()
    with Watch(forbidden.LAYER_NORM).watching() as recorded, off[0], off[1]:
        norm()
    assert "torch.ops.aten.native_layer_norm" in recorded


def test_operator_in_a_thread_of_the_answer_is_recorded():
    norm = functools.partial(torch.layer_norm, X, (4,))
    with Watch(forbidden.LAYER_NORM).watching() as recorded:
        thread = threading.Thread(target=lambda: norm())
        thread.start()
        thread.join()
    assert "torch.ops.aten.native_layer_norm" in recorded


def test_switching_off_the_recorder_is_recorded():
    with Watch(forbidden.LAYER_NORM).watching() as recorded:
        torch._C._autograd._disable_profiler_legacy()
    assert recorded == [SWITCHED_OFF]


def test_own_function_with_a_torch_name_is_not_recorded(monkeypatch):
    watch = Watch(("torch.nn.functional.softmax",))
    monkeypatch.setattr(F, "softmax", softmax)
    with watch.watching() as recorded:
        F.softmax(X)
    assert recorded == []


class Written(nn.LayerNorm):
    """A layer norm with the parameters of torch's and a written-out calculation."""

    def forward(self, X):
        centred = X - X.mean(-1, keepdim=True)
        return centred / ((centred**2).mean(-1, keepdim=True) + self.eps).sqrt()


def softmax(x):
    return x.exp() / x.exp().sum(-1, keepdim=True)


def test_written_out_calculation_is_not_recorded():
    everything = (
        *forbidden.SOFTMAX,
        *forbidden.ATTENTION,
        *forbidden.LAYER_NORM,
        *forbidden.AUTOMATIC_DIFFERENTIATION,
    )
    with Watch(everything).watching() as recorded:
        with torch.no_grad():
            Written(4)(X) @ softmax(X).mT
        X.detach().requires_grad_().sum()
    assert recorded == []


def test_watching_ends_with_the_context():
    before = sys.getprofile(), threading.getprofile()
    with Watch(forbidden.SOFTMAX).watching() as recorded:
        pass
    X.softmax(-1)
    assert recorded == []
    assert (sys.getprofile(), threading.getprofile()) == before


def test_watching_does_not_import_the_torch_compiler():
    """Save three seconds in each process that judges an answer."""
    code = (
        "import sys, torch\n"
        "from autograder.probe.ready_made import Watch\n"
        "with Watch(('torch.softmax',)).watching() as recorded: torch.softmax(torch.ones(2), 0)\n"
        "print(recorded, 'torch._dynamo' in sys.modules)"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "['torch.softmax'] False"
