"""Run every operator of torch, and say which of them compute a softmax that no watch has seen.

Each is called with a matrix, as scores or as the queries of an attention whose keys and values are
the identity. A few end the process that calls them so: they run in forks.
"""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from autograder.probe.ready_made import Watch

N, CHUNK, SECONDS = 4, 40, 30
X = torch.tensor(
    [[0.3, -1.2, 0.8, 0.1], [1.5, 0.2, -0.7, 0.4], [0.0, 0.9, 0.6, -2.0], [1, 2, 3, 4]]
)
EYE = torch.eye(N)
SCORES = ((X,), (X[None, None], EYE[None, None], EYE[None, None]), (X, torch.ones(N, N) > 0))
RIGHT = [
    function(one, -1)
    for one in (X, X.T, -X, X / N**0.5)
    for function in (torch.softmax, torch.log_softmax)
]


def operators() -> list[str]:
    """The names of all operators of torch itself that give a new result: `softmax.int`."""
    names = (one.removeprefix("aten::") for one in torch._C._dispatch_get_all_op_names())
    split = (one.partition(".") for one in names if "::" not in one)
    return sorted(
        f"{base}.{overload or 'default'}"
        for base, _, overload in split
        if not base.endswith("_") and "backward" not in base and "out" not in overload
    )


def softmaxes(forbidden: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The operators that compute a softmax, each with what a watch for `forbidden` has seen."""
    waiting = operators()
    chunks = [waiting[at : at + CHUNK] for at in range(0, len(waiting), CHUNK)]
    while chunks:
        chunk = chunks.pop()
        lines = _apart(chunk, forbidden)
        if lines is None and len(chunk) > 1:
            chunks += [[name] for name in chunk]
        for line in lines or ():
            name, *seen = line.split()
            yield name, seen


def _run(name: str, forbidden: Sequence[str]) -> list[str]:
    base, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, base, None), overload, None)
    if operator is None:
        return []
    for tensors in SCORES:
        given = _arguments(operator._schema, [one.clone() for one in tensors])
        if given is None:
            return []
        with Watch(forbidden).watching() as seen:
            try:
                result = operator(*given)
            except Exception:
                continue
        if _is_softmax(result):
            return [" ".join((name, *seen))]
    return []


def _arguments(schema: Any, tensors: list[torch.Tensor]) -> list[Any] | None:
    """Something for each argument that has no default; None if one is of an unknown type."""
    fill = {"int": -1, "float": 0.0, "bool": False, "number": 1.0, "List[int]": [-1]}
    given: list[Any] = []
    for one in schema.arguments:
        kind = str(one.type)
        if one.kwarg_only:
            continue
        if kind == "Tensor":
            given.append(tensors.pop(0) if tensors[1:] else tensors[0])
        elif one.has_default_value():
            given.append(one.default_value)
        elif kind in fill or kind.startswith("Optional"):
            given.append(fill.get(kind))
        else:
            return None
    return given


def _is_softmax(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(map(_is_softmax, value))
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return False
    if value.numel() != N * N or not value.is_floating_point():
        return False
    found = value.detach().reshape(N, N).float()
    return any(torch.allclose(one, found, atol=1e-5) for one in RIGHT)


def _apart(names: Sequence[str], forbidden: Sequence[str]) -> list[str] | None:
    """The lines of these operators, run in a process of its own; None if that ends early."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(SECONDS)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            warnings.simplefilter("ignore")
            found = [line for name in names for line in _run(name, forbidden)]
            os.write(writing, "\n".join([*found, "all"]).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        *lines, last = file.read().split("\n")
    os.waitpid(child, 0)
    return lines if last == "all" else None


if __name__ == "__main__":
    from exercises import forbidden

    torch.set_num_threads(1)
    for name, seen in softmaxes(forbidden.SOFTMAX):
        print(name, *seen[:2])
