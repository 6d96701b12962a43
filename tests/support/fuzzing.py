"""What the fuzz tests draw: damaged notebooks, and what a forger may send back from the sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from autograder.sandbox.untrusted import wire
from autograder.sandbox.untrusted.values import (
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
"""Any JSON value, with the words that mean something in a notebook among its texts."""


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to every part of a JSON value but the whole."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, part in parts:
        found.append((*path, key))
        if isinstance(part, dict | list):
            found += places(part, (*path, key))
    return found


@st.composite
def damaged(draw: Callable[..., Any], whole: Notebook) -> Notebook:
    """A notebook with a few of its parts dropped, doubled, moved or replaced."""
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
            other = draw(st.integers(0, len(parent) - 1))
            if kind == "swap":
                parent[key], parent[other] = parent[other], parent[key]
            else:
                parent.insert(other, json.loads(json.dumps(parent[key])))
        else:
            other = draw(st.sampled_from(sorted(parent)))
            parent[key], parent[other] = parent[other], parent[key]
    return content


@st.composite
def written(draw: Callable[..., Any], whole: Notebook) -> bytes:
    """The bytes of a damaged notebook, damaged again as files are."""
    text = json.dumps(draw(damaged(whole)), ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):  # keys that stand twice
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
    """What an honest runner sends, with some parts of some observations forged."""
    forged: list[Any] = list(right)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(forged) - 1))
        one = forged[place]
        kind = draw(st.sampled_from(("whole", "value", "again", "later", "arguments", "gradients")))
        if kind == "whole" or not isinstance(one, Observation):
            forged[place] = draw(observations | values)
            continue
        value, after, again, later = one.value, one.arguments_after, one.again, one.later
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
    """A message of the wire, whole or damaged at some byte, or one with a header of its own."""
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
