"""Run operators of torch, and print for each what a watch has seen of it.

With the argument `softmax`: every operator that computes one, with a watch for `forbidden.SOFTMAX`.
With `backward`: every derivative that is an operator, with `forbidden.AUTOMATIC_DIFFERENTIATION`.

Each is called with a matrix, as scores or as the queries of an attention whose keys and values are
the identity. A few end the process that calls them so: they run in forks.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from autograder.probe.ready_made import Watch
from exercises import forbidden

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


def operators(derivatives: bool) -> list[str]:
    """The names of all operators of torch that give a new result: `softmax.int`.

    Those of the derivatives, or all others.
    """
    names = (one.removeprefix("aten::") for one in torch._C._dispatch_get_all_op_names())
    split = (one.partition(".") for one in names if "::" not in one)
    return sorted(
        f"{base}.{overload or 'default'}"
        for base, _, overload in split
        if not base.endswith("_")
        and ("backward" in base or "_jvp" in base) == derivatives
        and "out" not in overload
    )


def lines_of(names: Sequence[str], run: Callable[[str], list[str]]) -> Iterator[str]:
    """What `run` says of each operator, in forks; nothing of one that ends its process."""
    chunks = [names[at : at + CHUNK] for at in range(0, len(names), CHUNK)]
    while chunks:
        chunk = chunks.pop()
        lines = _apart(chunk, run)
        if lines is not None:
            yield from lines
        elif len(chunk) > 1:
            chunks += [[name] for name in chunk]


def computes_a_softmax(name: str) -> list[str]:
    """The line of an operator that computes a softmax, with what was seen."""
    for tensors in SCORES:
        called = _called(name, tensors, forbidden.SOFTMAX)
        if called is not None and _is_softmax(called[0]):
            return [" ".join((name, *called[1][:2]))]
    return []


def is_seen(name: str) -> list[str]:
    """The line of an operator, with what was seen of it: also if it refuses its arguments."""
    called = _called(name, SCORES[0], forbidden.AUTOMATIC_DIFFERENTIATION)
    return [name if called is None else " ".join((name, *called[1][:1]))]


def _called(
    name: str, tensors: Sequence[torch.Tensor], names: Sequence[str]
) -> tuple[Any, list[str]] | None:
    """What an operator returned, or None, and what a watch for `names` saw; None if not called."""
    base, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, base, None), overload, None)
    given = operator and _arguments(operator._schema, [one.clone() for one in tensors])
    if given is None:
        return None
    into = [one for one in operator._schema.arguments if one.is_out]
    result = None
    with Watch(names).watching() as seen, contextlib.suppress(Exception):
        result = operator(*given, **{one.name: tensors[0].clone() for one in into})
    return result, seen


def _arguments(schema: Any, tensors: list[torch.Tensor]) -> list[Any] | None:
    """Something for each argument that has no default; None if one is of an unknown type."""
    fill = {
        "int": -1,
        "float": 0.0,
        "bool": False,
        "number": 1.0,
        "str": "none",
        "List[int]": [-1],
        "List[bool]": [True],
        "List[Tensor]": [tensors[0]],
    }
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


def _apart(names: Sequence[str], run: Callable[[str], list[str]]) -> list[str] | None:
    """The lines of these operators, run in a process of its own; None if that ends early."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(SECONDS)
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            warnings.simplefilter("ignore")
            found = [line for name in names for line in run(name)]
            os.write(writing, "\n".join([*found, "all"]).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        *lines, last = file.read().split("\n")
    os.waitpid(child, 0)
    return lines if last == "all" else None


if __name__ == "__main__":
    torch.set_num_threads(1)
    derivatives = sys.argv[1] == "backward"
    for line in lines_of(operators(derivatives), is_seen if derivatives else computes_a_softmax):
        print(line)
