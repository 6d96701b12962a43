"""Run operators of torch, and print what a watch records for each.

With the argument `softmax`: every operator that computes a softmax, with a watch for
`forbidden.SOFTMAX`. With `backward`: every derivative that is an operator, with a watch for
`forbidden.AUTOMATIC_DIFFERENTIATION`.

Each is called with a matrix, as scores or as the queries of an attention whose keys and values are
the identity. The operators run in forks, since a few crash the process on such arguments.
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
    function(scores, -1)
    for scores in (X, X.T, -X, X / N**0.5)
    for function in (torch.softmax, torch.log_softmax)
]


def operators(derivatives: bool) -> list[str]:
    """Return the names of all operators of torch that return a new result: `softmax.int`.

    derivatives: whether to return the operators of derivatives, or all others.
    """
    names = (name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names())
    split = (name.partition(".") for name in names if "::" not in name)
    return sorted(
        f"{base}.{overload or 'default'}"
        for base, _, overload in split
        if not base.endswith("_")
        and ("backward" in base or "_jvp" in base) == derivatives
        and "out" not in overload
    )


def lines_of(names: Sequence[str], run: Callable[[str], list[str]]) -> Iterator[str]:
    """Yield what `run` reports on each operator, in forks; skip operators that crash."""
    chunks = [names[at : at + CHUNK] for at in range(0, len(names), CHUNK)]
    while chunks:
        chunk = chunks.pop()
        lines = _apart(chunk, run)
        if lines is not None:
            yield from lines
        elif len(chunk) > 1:
            chunks += [[name] for name in chunk]


def computes_a_softmax(name: str) -> list[str]:
    """Return the line of an operator that computes a softmax, with the watch's record."""
    for tensors in SCORES:
        called = _called(name, tensors, forbidden.SOFTMAX)
        if called is not None and _is_softmax(called[0]):
            return [" ".join((name, *called[1][:2]))]
    return []


def is_seen(name: str) -> list[str]:
    """Return the line of an operator with the watch's record, even if it refuses its arguments."""
    called = _called(name, SCORES[0], forbidden.AUTOMATIC_DIFFERENTIATION)
    return [name if called is None else " ".join((name, *called[1][:1]))]


def _called(
    name: str, tensors: Sequence[torch.Tensor], names: Sequence[str]
) -> tuple[Any, list[str]] | None:
    """Return an operator's result, or None, and the record of a watch for `names`.

    Returns None if the operator could not be called.
    """
    base, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, base, None), overload, None)
    arguments = operator and _arguments(operator._schema, [tensor.clone() for tensor in tensors])
    if arguments is None:
        return None
    into = [argument for argument in operator._schema.arguments if argument.is_out]
    result = None
    with Watch(names).watching() as record, contextlib.suppress(Exception):
        result = operator(*arguments, **{out.name: tensors[0].clone() for out in into})
    return result, record


def _arguments(schema: Any, tensors: list[torch.Tensor]) -> list[Any] | None:
    """Return a value for each argument without a default; None if a type is unknown."""
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
    values: list[Any] = []
    for argument in schema.arguments:
        kind = str(argument.type)
        if argument.kwarg_only:
            continue
        if kind == "Tensor":
            values.append(tensors.pop(0) if tensors[1:] else tensors[0])
        elif argument.has_default_value():
            values.append(argument.default_value)
        elif kind in fill or kind.startswith("Optional"):
            values.append(fill.get(kind))
        else:
            return None
    return values


def _is_softmax(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(map(_is_softmax, value))
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return False
    if value.numel() != N * N or not value.is_floating_point():
        return False
    rows = value.detach().reshape(N, N).float()
    return any(torch.allclose(expected, rows, atol=1e-5) for expected in RIGHT)


def _apart(names: Sequence[str], run: Callable[[str], list[str]]) -> list[str] | None:
    """Return the lines of these operators, run in a fork; None if the fork ends early."""
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
