"""Strategies of the fuzz tests: damaged notebooks, and the messages that a forger may send."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from autograder.probe import wire
from autograder.probe.status import Status
from autograder.probe.values import (
    Differentiated,
    Foreign,
    FunctionElsewhere,
    Observation,
    Raised,
    SeededGenerator,
    SourceFunction,
    Tensor,
    Unloadable,
)
from autograder.sandbox.rooms import Run

Notebook = dict[str, Any]

WORDS = (
    *("row_mean", "scale", "why", "code", "markdown", "raw", "nbgrader", "grade_id", "cells"),
    *("source", "metadata", "cell_type", "id", "outputs", "", "\ud800", "\x00", "\x1b[31m"),
    *("def row_mean(X):\n    return X", "scale = 3", "# " * 5000, "%%time\n!ls"),
    "def row_mean" + "\t" * 3000,
)

plain = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**25), 10**25),
        st.floats(),
        st.sampled_from(WORDS),
        st.text(max_size=8),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
    ),
    max_leaves=8,
)
"""Any JSON value; its strings include the words that have a meaning in a notebook."""


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths to all parts of a JSON value except the value itself."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    paths = []
    for key, part in parts:
        paths.append((*path, key))
        if isinstance(part, dict | list):
            paths += places(part, (*path, key))
    return paths


@st.composite
def damaged(draw: Callable[..., Any], whole: Notebook) -> Notebook:
    """Return a notebook in which a few parts are dropped, duplicated, moved or replaced."""
    content: Notebook = json.loads(json.dumps(whole))
    for _ in range(draw(st.integers(1, 6))):
        *path, key = draw(st.sampled_from(places(content) or [("cells",)]))
        parent: Any = content
        for step in path:
            parent = parent[step]
        kind = draw(st.sampled_from(("drop", "replace", "double", "swap", "insert")))
        if kind == "replace" or (key not in parent and isinstance(parent, dict)):
            parent[key] = draw(plain)
        elif kind == "drop":
            del parent[key]
        elif kind == "insert" and isinstance(parent, dict):
            parent[draw(st.sampled_from(WORDS))] = draw(plain)
        elif isinstance(parent, list):
            partner = draw(st.integers(0, len(parent) - 1))
            if kind == "swap":
                parent[key], parent[partner] = parent[partner], parent[key]
            else:
                parent.insert(partner, json.loads(json.dumps(parent[key])))
        else:
            partner = draw(st.sampled_from(sorted(parent)))
            parent[key], parent[partner] = parent[partner], parent[key]
    return content


@st.composite
def written(draw: Callable[..., Any], whole: Notebook) -> bytes:
    """Return the bytes of a damaged notebook, damaged again as a file may be."""
    text = json.dumps(draw(damaged(whole)), ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):  # duplicate keys
        key = draw(st.sampled_from(("cells", "metadata", "source", "grade_id", "cell_type")))
        value = json.dumps(draw(plain))
        text = text.replace(f'"{key}":', f'"{key}": {value}, "{key}":', draw(st.integers(0, 3)))
    encoding = draw(st.sampled_from(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1")))
    data = text.encode(encoding, "surrogatepass" if encoding.startswith("utf") else "replace")
    kind = draw(st.sampled_from(("whole", "whole", "cut", "byte", "noise")))
    place = draw(st.integers(0, len(data)))
    if kind == "cut":
        return data[:place]
    if kind == "byte":
        return data[:place] + draw(st.binary(max_size=3)) + data[place + 1 :]
    if kind == "noise":
        return data[:place] + draw(st.binary(max_size=40)) + data[place:]
    return data


dtypes = st.sampled_from(
    ["bool", "int64", "int8", "uint16", "float16", "float32", "float64", "complex128"]
)
numbers = dtypes.flatmap(
    lambda dtype: arrays.arrays(
        dtype, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
    )
)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    numbers,
    st.builds(Tensor, numbers, st.booleans()),
    st.builds(Foreign, st.text(max_size=8)),
    st.builds(
        Raised,
        st.text(max_size=8),
        st.text(max_size=8),
        st.none() | st.integers(-5, 5),
        st.lists(st.text(max_size=4), max_size=2).map(tuple),
    ),
    st.builds(SourceFunction, st.text(max_size=4), st.text(max_size=8)),
    st.builds(FunctionElsewhere, st.integers(-1, 2)),
    st.builds(SeededGenerator, st.integers(0, 2**40)),
)
NAMES = ("argument 1", "argument 2", "parameter `bias`", "parameter `weight`", "bias", "weight", "")
names = st.sampled_from(NAMES)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(names, inner, max_size=3),
        st.builds(
            Differentiated,
            inner,
            st.dictionaries(names, inner, max_size=3)
            | st.none()
            | st.builds(Raised, st.just("ValueError"), st.text(max_size=3)),
        ),
        st.builds(Unloadable, st.dictionaries(names, inner, max_size=3)),
    ),
    max_leaves=6,
)
"""Any value that the wire format can carry."""

observations = st.builds(
    Observation, values, st.lists(values, max_size=3).map(tuple), values, values
)


@st.composite
def like(draw: Callable[..., Any], right: list[Observation]) -> list[Any]:
    """Return an honest runner's observations, with some parts of some of them forged."""
    forged: list[Any] = list(right)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(forged) - 1))
        observation = forged[place]
        kind = draw(st.sampled_from(("whole", "value", "again", "later", "arguments", "gradients")))
        if kind == "whole" or not isinstance(observation, Observation):
            forged[place] = draw(observations | values)
            continue
        value, after, again, later = (
            observation.value,
            observation.arguments_after,
            observation.again,
            observation.later,
        )
        if kind == "value":
            value = draw(values)
        elif kind == "gradients":
            output = value.output if isinstance(value, Differentiated) else value
            gradients = draw(st.dictionaries(names, values, max_size=3) | st.none())
            value = Differentiated(output, gradients)
            again = value if draw(st.booleans()) else again
        elif kind == "again":
            again = draw(values)
        elif kind == "later":
            later = draw(values)
        else:
            after = tuple(draw(st.lists(values, max_size=3)))
        forged[place] = Observation(value, after, again, later)
    return forged


@st.composite
def messages(draw: Callable[..., Any]) -> bytes:
    """Return a message of the wire: intact, damaged at some byte, or with a forged header."""
    if draw(st.booleans()):
        header = json.dumps(draw(nodes)).encode("utf-8", "surrogatepass")
        buffers = draw(st.binary(max_size=64))
        return wire.MAGIC + len(header).to_bytes(8, "little") + header + buffers
    data = bytearray(wire.encode(draw(values | observations)))
    for _ in range(draw(st.integers(0, 3))):
        if data:
            data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


KINDS = (
    "plain", "int", "float", "tuple", "list", "dict", "array", "scalar", "function", "generator",
    "foreign", "raised", "Call", "Setup", "Tensor", "Observation", "Differentiated", "Unloadable",
    "record", "items", "text", "_array", "",
)  # fmt: skip
nodes = st.recursive(
    st.one_of(plain, st.sampled_from(("<f8", "|b1", "|O", "<f4", "<c16")), st.just([0, 2**62])),
    lambda inner: st.lists(inner, max_size=4).flatmap(
        lambda parts: st.sampled_from(KINDS).map(lambda kind: [kind, *parts])
    ),
    max_leaves=8,
)
"""Trees that look like headers of the wire format."""


SECRET, NUMBER = "SECRET", 31337
"""Messages of a forger who has read the hidden inputs: every text contains the secret text, and
every number of the forger's own is the secret number."""

odd = st.sampled_from(
    (
        *(None, True, SECRET, NUMBER, -NUMBER, NUMBER * 10**20, 31337.25, float("nan"), 1e308),
        *([[NUMBER], [NUMBER, SECRET]], (NUMBER, [31337.0, None]), [np.ones(2), np.ones(3)]),
        *((np.ones(2), SECRET, None), [], (), {}, {SECRET: NUMBER}, {SECRET: [1, [2, [3]]]}),
        *(np.float64(31337.25), np.int8(3), np.bool_(True), np.complex128(31337j)),
        *(np.full((2, 3), 31337.25), np.zeros((0, 3)), np.zeros(()), np.full(3, np.inf)),
        *(np.array([NUMBER], np.uint64), np.ones(2, np.float16), np.ones((1,) * 8)),
        *(Tensor(np.full(3, 31337.25)), Tensor(np.zeros(())), Tensor(np.ones(2, complex))),
        *(Foreign(SECRET), Foreign(f"ndarray[{SECRET}]"), Foreign(f"Tensor[{SECRET}]")),
        *(Foreign(""), Foreign("a " + SECRET), Unloadable({SECRET: (NUMBER,)}), Unloadable({})),
        *(Raised(SECRET, SECRET, NUMBER, (SECRET,)), Raised("ValueError", SECRET, NUMBER)),
        *(Raised("BlockingIOError", ""), Raised("AssertionError", SECRET, -1, ("Exception",))),
        *(Raised(SECRET, "", None, ("ValueError",)), Raised("", "")),
        *(Differentiated(NUMBER, {SECRET: Tensor(np.ones(2))}), Differentiated(None, None)),
        *(Differentiated(np.ones(2), Raised(SECRET, SECRET)), Differentiated([1], {"a": None})),
    )
)
"""Values that no honest answer returns."""


@st.composite
def spoiled(draw: Callable[..., Any], right: Any) -> Any:
    """Return a correct value, changed in one part: its type, shape, dtype or length."""
    kind = draw(st.sampled_from(("odd", "inside", "inside", "cast", "shape", "number", "longer")))
    if isinstance(right, Tensor):
        array = draw(spoiled(right.array))
        return Tensor(array, right.gradient) if isinstance(array, np.ndarray) else array
    if isinstance(right, Differentiated) and kind != "odd":
        if draw(st.booleans()) or not isinstance(right.gradients, dict):
            return dataclasses.replace(right, output=draw(spoiled(right.output)))
        return dataclasses.replace(right, gradients=draw(spoiled(right.gradients)))
    if isinstance(right, tuple | list | dict) and kind in ("inside", "longer"):
        items = [*right.items()] if isinstance(right, dict) else [*enumerate(right)]
        if items and kind == "inside":
            at = draw(st.integers(0, len(items) - 1))
            items[at] = items[at][0], draw(spoiled(items[at][1]))
        elif items and draw(st.booleans()):
            items.pop()
        else:
            items.append((SECRET, draw(odd)))
        return (
            dict(items) if isinstance(right, dict) else type(right)(element for _, element in items)
        )
    if isinstance(right, np.ndarray) and kind != "odd":
        if kind == "cast":
            with np.errstate(all="ignore"):
                return right.astype(draw(dtypes))
        if kind == "shape":
            return draw(
                st.sampled_from((right[None], right.ravel()[:1], right.T, right[..., None]))
            )
        changed = right.copy()
        if changed.size and changed.dtype.kind in "iuf":
            flat = changed.reshape(-1)
            flat[draw(st.integers(0, changed.size - 1))] = draw(st.sampled_from((0, 1, 7)))
        return changed
    if isinstance(right, int | float) and kind in ("number", "cast"):
        wide = (int(right),) if abs(right) < 2**60 else ()
        return draw(st.sampled_from((right + 1, -right, float(right), np.float32(right), *wide)))
    return draw(odd)


@st.composite
def tampered(draw: Callable[..., Any], right: Sequence[Observation]) -> list[Observation]:
    """Return an honest runner's observations, with the results of some cases spoiled."""
    forged = list(right)
    for at in draw(st.lists(st.integers(0, len(forged) - 1), max_size=3)) if forged else ():
        observation, part = (
            forged[at],
            draw(st.sampled_from(("value", "value", "later", "after", "ran"))),
        )
        if part == "ran":
            text = draw(st.sampled_from((SECRET, "torch.softmax", f"torch.{SECRET}softmax", "")))
            forged[at] = dataclasses.replace(observation, ready_made=(text,))
        elif part == "after":
            after = draw(spoiled(observation.arguments_after))
            after = after if isinstance(after, tuple) else (after,)
            forged[at] = dataclasses.replace(observation, arguments_after=after)
        else:
            forged[at] = dataclasses.replace(
                observation, **{part: draw(spoiled(observation.value))}
            )
    return forged


class Forger:
    """A sandbox whose rooms answer the orders with these results, one after another."""

    open = True

    def __init__(self, runs, status=Status.ENDED, cell=None, changed=None):
        self.runs = itertools.cycle(runs)
        self.run = lambda calls, **options: Run(status, cell, next(self.runs), changed)

    def room(self, program, torch):
        return self

    def close(self):
        pass
