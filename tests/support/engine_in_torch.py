"""Compare the engine of the playground with PyTorch on the same numbers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from solutions.positions import rotary, sinusoidal_positions

STEPS = Path(__file__).parents[1] / "web" / "learning" / "steps.mjs"
KERNELS = ("wasm", "javascript")
START = 0.5
"""The factor of the sinusoidal encodings, which gives them the scale of the first embeddings."""

COPYING = {"task": "copying", "length": 16, "layers": 2, "residual": True, "norm": True}
MACHINES: dict[str, dict[str, Any]] = {
    "mean": {"body": "mean"},
    "GRU": {"body": "gru"},
    "two GRUs, read everywhere": {"task": "copying", "length": 16, "body": "gru", "layers": 2},
    "convolution": {"body": "convolution", "layers": 2},
    "dilated convolution": {"body": "convolution", "layers": 3, "window": 3, "dilated": True},
    "no parameters": {"task": "own", "body": "bare"},
    "no parameters, three layers": {"task": "own", "body": "bare", "layers": 3, "heads": 2},
    "one projection": {"task": "partner", "body": "shared"},
    "Q, K, V": {"task": "partner"},
    "no scale": {"task": "partner", "scale": False, "width": 16},
    "two relations, eight heads": {"task": "both", "heads": 8},
    "learned positions": {"task": "last", "positions": "learned", "heads": 2},
    "sinusoids": {"task": "before", "positions": "sinusoidal", "heads": 2},
    "rotary positions": {"task": "before", "positions": "rotary", "heads": 4},
    "two blocks": {**COPYING, "heads": 2, "positions": "rotary", "feedForward": True},
    "two blocks, no mask": {**COPYING, "causal": False, "positions": "learned"},
    "feed-forward alone": {"task": "later", "body": "mean", "feedForward": True},
}


class Machine:
    """The model with these settings, built from PyTorch's own functions."""

    def __init__(self, settings: dict[str, Any], start: list[tuple[str, list[int], list[float]]]):
        self.settings = settings
        self.parameters = {
            name: torch.tensor(numbers, dtype=torch.float32).reshape(shape).requires_grad_()
            for name, shape, numbers in start
        }

    def __call__(self, symbols: Tensor) -> Tensor:
        """symbols: (batch, n, each). Returns logits (batch, m, classes)."""
        settings, p = self.settings, self.parameters
        X = F.embedding(symbols, p["embedding.symbols"]).sum(dim=2)  # (batch, n, d)
        n, d = X.shape[1:]
        if settings["positions"] == "learned":
            X = X + p["embedding.positions"][:n]
        if settings["positions"] == "sinusoidal":
            X = X + START * torch.from_numpy(sinusoidal_positions(n, d)).float()
        for layer in range(1, settings["layers"] + 1):
            X = self.sublayer(f"block {layer}", "norm_1", X, self.mixed)
            if settings["feedForward"]:
                X = self.sublayer(f"block {layer}", "norm_2", X, self.bent)
        if settings["task"] != "copying":
            X = X[:, -1:]
        return self.linear(self.normal("read-out.norm", X), "read-out.W")

    def linear(self, X: Tensor, name: str) -> Tensor:
        bias = self.parameters.get(f"{name}.bias")
        return F.linear(X, self.parameters[name].T, bias)

    def normal(self, name: str, X: Tensor) -> Tensor:
        if not self.settings["norm"]:
            return X
        scale, shift = (self.parameters[f"{name}.{part}"] for part in ("scale", "shift"))
        return F.layer_norm(X, X.shape[-1:], scale, shift)

    def sublayer(self, block: str, norm: str, X: Tensor, write: Any) -> Tensor:
        Y = write(block, self.normal(f"{block}.{norm}", X))
        return X + Y if self.settings["residual"] else Y

    def bent(self, block: str, X: Tensor) -> Tensor:
        return self.linear(self.linear(X, f"{block}.W_1").relu(), f"{block}.W_2")

    def mixed(self, block: str, X: Tensor) -> Tensor:
        body = self.settings["body"]
        if body == "gru":
            return self.gru(block, X)
        if body == "convolution":
            return self.convolution(block, X)
        if body == "mean":
            sums = X.cumsum(dim=1) if self.settings["causal"] else X.sum(dim=1, keepdim=True)
            counts = torch.arange(1, X.shape[1] + 1) if self.settings["causal"] else X.shape[1:2]
            return sums / torch.as_tensor(counts)[:, None]
        return self.attention(block, X)

    def gru(self, block: str, X: Tensor) -> Tensor:
        d = X.shape[-1]
        p = self.parameters
        layer = torch.nn.GRU(d, d, batch_first=True)
        named = {
            "weight_ih_l0": p[f"{block}.W_x"].T,
            "bias_ih_l0": p[f"{block}.W_x.bias"],
            "weight_hh_l0": p[f"{block}.W_h"].T,
            "bias_hh_l0": p[f"{block}.W_h.bias"],
        }
        return torch.func.functional_call(layer, named, (X,))[0]

    def convolution(self, block: str, X: Tensor) -> Tensor:
        W = self.parameters[f"{block}.W"]  # (window, d, d)
        gap = 2 ** (int(block[-1]) - 1) if self.settings["dilated"] else 1
        padded = F.pad(X.mT, ((len(W) - 1) * gap, 0))  # (batch, d, n and what stands before)
        bias = self.parameters[f"{block}.W.bias"]
        return F.conv1d(padded, W.permute(2, 1, 0), bias, dilation=gap).relu().mT

    def attention(self, block: str, X: Tensor) -> Tensor:
        settings, n_heads = self.settings, self.settings["heads"]
        roles = [X, X, X]
        if settings["body"] != "bare":
            names = {"shared": ("W_qk", "W_qk", "W_v")}.get(settings["body"], ("W_q", "W_k", "W_v"))
            roles = [self.linear(X, f"{block}.{name}") for name in names]
        Q, K, V = (role.unflatten(-1, (n_heads, -1)).transpose(1, 2) for role in roles)
        if settings["positions"] == "rotary":
            Q, K = apply_rotary(Q), apply_rotary(K)
        scale = None if settings["scale"] else 1.0
        heads = F.scaled_dot_product_attention(Q, K, V, is_causal=settings["causal"], scale=scale)
        joined = heads.transpose(1, 2).flatten(-2)
        return joined if settings["body"] == "bare" else self.linear(joined, f"{block}.W_o")


def apply_rotary(X: Tensor) -> Tensor:
    """Apply `rotary` to X (batch, heads, n, d) as matrices, which torch can differentiate."""
    *_, n, d = X.shape
    places = torch.eye(d).expand(n, d, d).numpy()  # (n, d, d), the rows to turn
    maps = torch.from_numpy(rotary(places, torch.arange(n)[:, None].expand(n, d).numpy()))
    return torch.einsum("bhni,nij->bhnj", X, maps)


def told_by(kernel: str) -> dict[str, dict[str, Any]]:
    """Return the engine's report on each of MACHINES, computed with one of KERNELS."""
    small = {"batch": 8, "width": 16, "steps": 30, "seed": 1}
    listed = json.dumps([{**small, **settings} for settings in MACHINES.values()])
    command = ["node", str(STEPS), listed, kernel]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(zip(MACHINES, json.loads(done.stdout), strict=True))


def gradient_errors(report: dict[str, Any]) -> dict[str, float]:
    """Return the relative error of each parameter's gradient against PyTorch's.

    The error is the largest difference, divided by the largest entry of PyTorch's gradient.
    """
    machine = Machine(report["settings"], report["start"])
    loss_of(machine, report["steps"][0]).backward()
    errors = {}
    for parameter, numbers in report["gradients"]:
        expected = machine.parameters[parameter].grad
        assert expected is not None, parameter
        gradient = torch.tensor(numbers).reshape(expected.shape)
        errors[parameter] = float((gradient - expected).abs().max() / expected.abs().max())
    return errors


def loss_errors(report: dict[str, Any]) -> list[float]:
    """Return the difference of the loss from PyTorch's after each step of AdamW, in nats."""
    settings = report["settings"]
    machine = Machine(settings, report["start"])
    parameters = list(machine.parameters.values())
    adam = torch.optim.AdamW(parameters, weight_decay=0.01)
    errors = []
    for at, step in enumerate(report["steps"]):
        loss = loss_of(machine, step)
        errors.append(abs(step["loss"] - loss.item()))
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        adam.param_groups[0]["lr"] = settings["rate"] * (1 - at / settings["steps"])
        adam.step()
    return errors


def loss_of(machine: Machine, step: dict[str, Any]) -> Tensor:
    settings = machine.settings
    symbols = torch.tensor(step["symbols"]).reshape(settings["batch"], settings["length"], -1)
    right = torch.tensor(step["right"])
    return F.cross_entropy(machine(symbols).reshape(len(right), -1), right)
