"""Test the wire format: values survive it; invalid messages are errors and never run code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from autograder.judging.agreement import agree
from autograder.probe import wire
from autograder.probe.values import (
    Foreign,
    FunctionElsewhere,
    Observation,
    Raised,
    SeededGenerator,
    SourceFunction,
)

dtypes = st.sampled_from(["bool", "int64", "int8", "uint16", "float32", "float64", "complex128"])
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    dtypes.flatmap(
        lambda d: arrays.arrays(d, arrays.array_shapes(min_dims=0, min_side=0, max_side=3))
    ),
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.builds(Observation, inner, st.tuples(inner), inner),
    ),
    max_leaves=8,
)


@given(values)
def test_values_survive_encoding(value):
    back = wire.decode(wire.encode(value))
    assert type(back) is type(value)
    assert agree(back, value)


@pytest.mark.parametrize(
    "value",
    [
        SourceFunction("f", "def f(): pass"),
        FunctionElsewhere(2),
        SeededGenerator(2**40),
        Foreign("matrix"),
        Raised("ValueError", "text", 3),
    ],
)
def test_special_values_survive_encoding(value):
    assert wire.decode(wire.encode(value)) == value


class Lookalike(np.ndarray):
    """A subclass, which may misreport its values and so does not count as an array."""


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(2).view(Lookalike),
        np.ma.array([1.0]),
        object(),
        {1, 2},
        {1: 2},
        range(3),
        (i for i in ()),
        np.array([object()]),
        np.array(["text"]),
        10**50,
        type("Float", (float,), {})(1.0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_unsupported_types_become_foreign(value):
    assert isinstance(wire.decode(wire.encode(value)), Foreign)


def test_encoding_a_recursive_value_terminates():
    value: list = []
    value.append(value)
    assert isinstance(wire.decode(wire.encode(value)), list)


def test_strides_and_memory_order_do_not_matter():
    array = np.arange(12.0).reshape(3, 4)
    for view in (array.T, array[::-1], array[:, ::2], np.broadcast_to(array[0], (3, 4))):
        assert np.array_equal(wire.decode(wire.encode(view)), view)


@given(st.binary(max_size=200))
def test_random_bytes_are_an_error(noise):
    with pytest.raises(wire.WireError):
        wire.decode(noise)


@given(st.data())
def test_damaged_message_raises_only_wire_errors(data):
    message = bytearray(wire.encode([("x", np.arange(6.0)), {"k": 1.5}, None]))
    position = data.draw(st.integers(0, len(message) - 1))
    message[position] = data.draw(st.integers(0, 255))
    try:
        wire.decode(bytes(message))
    except wire.WireError:
        return
    with pytest.raises(wire.WireError):
        wire.decode(bytes(message[:-1]))


@pytest.mark.parametrize(
    "header",
    [
        '["array","|O",[1]]',
        '["array","<f8",[-1]]',
        '["array","<f8",[1e9]]',
        '["array","<f8",[100000000000]]',
        '["array","<f8",[true]]',
        '["array","<f8",[2,2,2,2,2,2,2,2,2]]',
        '["plain",1.5]',
        '["int","1_0"]',
        '["float","nope"]',
        '["__class__"]',
        '["value",1]',
        '["generator",-1]',
        '["generator",1.5]',
        '["generator",true]',
        '["tuple"]',
        '["tuple",[],[]]',
        '["int","--5"]',
        '["array","<f8",[0,67108864,67108864,67108864]]',
        pytest.param("[" + "[]," * 2_000_000 + "[]]", id="a huge header"),
        '["Observation",["plain",null],["plain",null],["plain",null]]',
        "[[[[[[[]]]]]]]",
        "{}",
        "nonsense",
    ],
)
def test_every_malformed_node_is_an_error(header):
    text = header.encode()
    with pytest.raises(wire.WireError):
        wire.decode(wire.MAGIC + len(text).to_bytes(8, "little") + text)
