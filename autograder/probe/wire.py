"""The wire format: a JSON header and raw buffers. It is pure data; reading it executes nothing.

A message is  b"AWB3" | length of header, 8 bytes | header | buffers.  The header is a tree of
nodes, each a list whose first item is its kind; the buffers start at multiples of 16 bytes.
Encoding accepts only exact types, and turns any other value into `Foreign`; decoding checks every
node, and raises WireError for anything unknown.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np

from .values import (
    Call,
    Differentiated,
    Foreign,
    FunctionElsewhere,
    Observation,
    Raised,
    SeededGenerator,
    Setup,
    SourceFunction,
    Tensor,
    Unloadable,
)

MAGIC = b"AWB3"
DTYPES = frozenset(
    f"{order}{kind}"
    for order, kinds in (
        ("|", ("b1", "i1", "u1")),
        ("<", ("i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")),
    )
    for kind in kinds
)
MAX_DEPTH = 12
MAX_ITEMS = 10_000
MAX_AXES = 8
MAX_TEXT = 20_000
MAX_NAME = 100
MAX_BYTES = 16 * 2**20
MAX_HEADER = MAX_BYTES
ALIGNED = 16


RECORDS: dict[type, tuple[Any, ...]] = {
    Call: (tuple, dict, Setup | None, tuple),
    Differentiated: (object, dict | Raised | None),
    FunctionElsewhere: (int,),
    Observation: (object, tuple, object, object, tuple, int),
    Setup: (tuple, dict, dict, bool),
    Unloadable: (dict,),
}
"""The records that are sent field by field, each with the types that its fields must have."""

_PARTS = {kind: [part.name for part in fields(kind)] for kind in RECORDS}
_SIZES = {dtype: np.dtype(dtype).itemsize for dtype in DTYPES}


class WireError(ValueError):
    """Raised for bytes that are not a message of this format."""


def encode(value: Any) -> bytes:
    """Return `value` as a message. Values of types that the format lacks become `Foreign`."""
    buffers: list[bytes] = []
    header = json.dumps(_node(value, buffers, 0), separators=(",", ":")).encode()
    header += b" " * (-(12 + len(header)) % ALIGNED)
    return b"".join((MAGIC, len(header).to_bytes(8, "little"), header, *buffers))


def _node(value: Any, buffers: list[bytes], depth: int) -> list[Any]:
    kind = type(value)
    if depth > MAX_DEPTH:
        return ["foreign", "a value nested too deeply"]
    if value is None or kind is bool:
        return ["plain", value]
    if kind is int:
        return ["int", str(value)] if value.bit_length() < 128 else ["foreign", "a huge int"]
    if kind is float:
        return ["float", value.hex()]
    if kind is str:
        return ["plain", value] if len(value) <= MAX_TEXT else ["foreign", "a huge str"]
    if kind is np.ndarray or isinstance(value, np.generic):
        return _array_node(value, buffers)
    if kind in (tuple, list):
        if len(value) > MAX_ITEMS:
            return ["foreign", f"a {kind.__name__} of {len(value)} items"]
        return [kind.__name__, [_node(item, buffers, depth + 1) for item in value]]
    if kind is dict and all(type(key) is str for key in value) and len(value) <= MAX_ITEMS:
        return ["dict", [[key, _node(item, buffers, depth + 1)] for key, item in value.items()]]
    if kind is SourceFunction:
        return ["function", value.name, value.source]
    if kind is SeededGenerator:
        return ["generator", int(value.seed)]
    if kind is Tensor:
        name, *array = _array_node(value.array, buffers)
        return ["tensor", *array, value.gradient] if name == "array" else [name, *array]
    if kind is Foreign:
        return ["foreign", value.type_name]
    if kind is Raised:
        return [
            "raised",
            value.type_name,
            value.message[:MAX_TEXT],
            value.line,
            [*value.bases],
            value.code,
        ]
    if kind in RECORDS:
        parts = [_node(getattr(value, part), buffers, depth + 1) for part in _PARTS[kind]]
        return [kind.__name__, *parts]
    return ["foreign", kind.__name__[:100]]


def _array_node(value: Any, buffers: list[bytes]) -> list[Any]:
    array = np.asarray(value)
    dtype = array.dtype.str
    if dtype not in DTYPES:
        dtype = array.dtype.newbyteorder("<").str
    if dtype not in DTYPES:
        return ["foreign", f"ndarray[{array.dtype.name}]"[:100]]
    if array.ndim > MAX_AXES or array.nbytes > MAX_BYTES:
        return ["foreign", f"ndarray of shape {array.shape}"[:100]]
    data = array.astype(dtype, copy=False).tobytes()
    buffers.append(data + bytes(-len(data) % ALIGNED))
    return ["array" if type(value) is np.ndarray else "scalar", dtype, list(array.shape)]


def decode(message: bytes | memoryview, *, shared: bool = False) -> Any:
    """Return the value of `message`, with new and writable arrays. Raises WireError.

    If `message` is `shared`, writable memory, the arrays use that memory instead.
    """
    if len(message) > 2 * MAX_BYTES:
        raise WireError(f"a message of {len(message)} bytes, more than {2 * MAX_BYTES}")
    if message[:4] != MAGIC or len(message) < 12:
        raise WireError("not a message of this format")
    start = 12 + int.from_bytes(message[4:12], "little")
    if start > min(len(message), MAX_HEADER):
        raise WireError("the header is cut off, or too long")
    try:
        tree = json.loads(bytes(message[12:start]))
    except (ValueError, RecursionError) as error:
        raise WireError(f"the header is not JSON: {error}") from None
    reader = _Reader(message, start, shared)
    value = reader.value(tree, 0)
    if reader.position != len(message):
        raise WireError("bytes are left over")
    return value


class _Reader:
    """Walks the header's tree; arrays take their bytes from `position` on."""

    def __init__(self, message: bytes | memoryview, position: int, shared: bool) -> None:
        self.message, self.position, self.shared = message, position, shared

    def value(self, node: Any, depth: int) -> Any:
        if type(node) is not list or not node or type(node[0]) is not str or depth > MAX_DEPTH + 1:
            raise WireError("a node of the header is malformed")
        kind, *parts = node
        read = _READERS.get(kind)
        if read is None:
            raise WireError(f"unknown kind {kind[:40]!r}")
        try:
            return read(self, *parts, depth=depth + 1)
        except WireError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise WireError(f"a node of kind {kind!r} is malformed: {error}") from None

    def _text(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > MAX_TEXT:
            raise WireError("a text is malformed")
        if value.isascii():
            return value
        return value.encode("utf-8", "replace").decode()  # replaces lone surrogates

    def _name(self, value: Any) -> str:
        text = self._text(value)
        if len(text) > MAX_NAME:
            raise WireError("the name of a type is too long")
        return text

    def _items(self, items: Any, depth: int) -> list[Any]:
        if not isinstance(items, list) or len(items) > MAX_ITEMS:
            raise WireError("a list of items is malformed")
        return [self.value(item, depth) for item in items]

    def _read_plain(self, value: Any, *, depth: int) -> Any:
        if value is None or isinstance(value, bool):
            return value
        return self._text(value)

    def _read_int(self, digits: Any, *, depth: int) -> int:
        if len(self._text(digits)) > 40 or not digits.lstrip("-").isdecimal():
            raise WireError("an int is malformed")
        return int(digits)

    def _read_float(self, text: Any, *, depth: int) -> float:
        try:
            return float.fromhex(self._text(text))
        except ValueError:
            raise WireError("a float is malformed") from None

    def _read_tuple(self, items: Any, *, depth: int) -> tuple[Any, ...]:
        return tuple(self._items(items, depth))

    def _read_list(self, items: Any, *, depth: int) -> list[Any]:
        return self._items(items, depth)

    def _read_dict(self, items: Any, *, depth: int) -> dict[str, Any]:
        if not isinstance(items, list) or len(items) > MAX_ITEMS:
            raise WireError("a dict is malformed")
        result = {}
        for pair in items:
            if not isinstance(pair, list) or len(pair) != 2:
                raise WireError("a dict is malformed")
            result[self._text(pair[0])] = self.value(pair[1], depth)
        return result

    def _read_array(self, dtype: Any, shape: Any, *, depth: int) -> np.ndarray:
        if dtype not in DTYPES:
            raise WireError(f"dtype {str(dtype)[:40]!r} is not allowed")
        if not isinstance(shape, list) or len(shape) > MAX_AXES:
            raise WireError("a shape is malformed")
        for length in shape:
            if type(length) is not int or not 0 <= length <= MAX_BYTES:
                raise WireError("a shape is malformed")
        count, start = math.prod(shape), self.position
        size = count * _SIZES[dtype]
        if size > MAX_BYTES or start + size > len(self.message):
            raise WireError("an array is larger than the message")
        self.position += size + -size % ALIGNED
        if not size:
            return np.empty(shape, dtype)
        array = np.frombuffer(self.message, dtype, count, start).reshape(shape)
        return array if self.shared else array.copy()

    def _read_tensor(self, dtype: Any, shape: Any, gradient: Any, *, depth: int) -> Tensor:
        if type(gradient) is not bool:
            raise WireError("a tensor is malformed")
        return Tensor(self._read_array(dtype, shape, depth=depth), gradient)

    def _read_scalar(self, dtype: Any, shape: Any, *, depth: int) -> np.generic:
        if shape != []:
            raise WireError("a scalar has a shape")
        value: Any = self._read_array(dtype, shape, depth=depth)
        scalar: np.generic = value[()]
        return scalar

    def _read_function(self, name: Any, source: Any, *, depth: int) -> SourceFunction:
        return SourceFunction(self._text(name), self._text(source))

    def _read_generator(self, seed: Any, *, depth: int) -> SeededGenerator:
        if type(seed) is not int or not 0 <= seed < 2**63:
            raise WireError("a seed is malformed")
        return SeededGenerator(seed)

    def _read_foreign(self, type_name: Any, *, depth: int) -> Foreign:
        return Foreign(self._name(type_name))

    def _read_raised(
        self, type_name: Any, message: Any, line: Any, bases: Any, code: Any, *, depth: int
    ) -> Raised:
        if line is not None and type(line) is not int:
            raise WireError("a line number is malformed")
        if not isinstance(bases, list) or len(bases) > MAX_ITEMS:
            raise WireError("the types of an exception are malformed")
        types = tuple(map(self._name, bases))
        return Raised(self._name(type_name), self._text(message), line, types, self._text(code))

    def _read_record(self, *parts: Any, kind: type, depth: int) -> Any:
        values = [self.value(part, depth) for part in parts]  # in order, as the buffers are
        types = RECORDS[kind]
        if len(values) != len(types) or not all(map(isinstance, values, types)):
            raise WireError(f"a {kind.__name__} is malformed")
        return kind(*values)


_READERS: dict[str, Callable[..., Any]] = {
    name.removeprefix("_read_"): read
    for name, read in vars(_Reader).items()
    if name.startswith("_read_")
}
del _READERS["record"]
for _kind in RECORDS:
    _READERS[_kind.__name__] = partial(_Reader._read_record, kind=_kind)
