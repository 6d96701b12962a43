"""Fingerprint answers by their syntax trees, in a process of its own (see `Helper`).

The method is winnowing (Schleimer, Wilkerson and Aiken, 2003, "Winnowing: local algorithms for
document fingerprinting"), on the nodes of the tree in place of characters. Names that an answer
binds, comments, docstrings, annotations and the layout are not in the nodes, so renaming changes
nothing. Each statement is fingerprinted alone, so their order changes nothing either.
"""

from __future__ import annotations

import ast
import builtins
import gc
import json
import resource
import signal
import sys
import warnings
import zlib
from collections.abc import Iterator, Sequence

NODES = 5
"""The number of nodes that a fingerprint covers."""

WINDOW = 3
"""One fingerprint is kept of so many in a row, so any match of 7 nodes in a statement is found."""

LONGEST = 20_000
"""The number of characters of the longest answer that is read; people write a tenth of it."""

LARGE = 10**9
"""Integers from here on count as the same."""

MEMORY = 2**30
"""The limit on the address space of the process, in bytes."""

BUILTINS = frozenset(vars(builtins))

MASK = 2**48 - 1
"""Fingerprints have 48 bits. Python hashes integers, unlike text, in the same way in each run."""

BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
"""The fields of a node that hold statements, or parts that hold them."""

SKIPPED = {"annotation", "returns", "type_comment", "ctx"}
"""The fields that are not among the nodes of a statement, and neither are its BLOCKS."""


def fingerprints(source: str) -> list[int] | None:
    """Return the fingerprints of an answer, sorted, with repetitions; None if it cannot be read."""
    if len(source) > LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape sequence, for instance
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    statements = [_nodes(statement) for statement in _statements(tree)]
    names = [node for nodes in statements for node in nodes if isinstance(node, ast.Name)]
    bound = {name.id for name in names if not isinstance(name.ctx, ast.Load)}
    marks: list[int] = []
    for nodes in statements:
        words = [_word(node, bound) for node in nodes]
        marks += winnow([zlib.crc32(word.encode("utf-8", "replace")) for word in words])
    return sorted(marks)


def winnow(nodes: Sequence[int]) -> list[int]:
    """Return the winnowed fingerprints of the nodes of a statement, as numbers: at least one."""
    count = max(len(nodes) - NODES + 1, 1)
    grams = [hash(tuple(nodes[at : at + NODES])) & MASK for at in range(count)]
    if count <= WINDOW:  # a short statement keeps all, since one would leave nodes out
        return grams
    places = set()
    for start in range(count - WINDOW + 1):
        place = start
        for at in range(start + 1, start + WINDOW):
            # of equal minima the rightmost is kept, which the next window is most likely to share
            place = at if grams[at] <= grams[place] else place
        places.add(place)
    return [grams[at] for at in places]


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield each statement within `tree`, except docstrings and heads of functions and classes."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for name in BLOCKS:
            for child in getattr(node, name, ()):
                waiting.append(child)
                if isinstance(child, ast.stmt) and not _is_head_or_text(child):
                    yield child


def _is_head_or_text(statement: ast.stmt) -> bool:
    """Return True for a definition, whose statements are visited later, and for a docstring."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
    return is_text or isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _nodes(statement: ast.stmt) -> list[ast.AST]:
    """Return the nodes of a statement in the order of the text, without the statements within."""
    nodes: list[ast.AST] = []
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        for name in reversed(node._fields):
            value = None if name in SKIPPED else getattr(node, name, None)
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, list) and name not in BLOCKS:
                waiting += (child for child in reversed(value) if isinstance(child, ast.AST))
    return nodes


def _word(node: ast.AST, bound: set[str]) -> str:
    """Return the kind of a node, with what cannot be renamed: attributes, numbers, built-ins."""
    kind = "Assign" if isinstance(node, ast.AnnAssign) else type(node).__name__
    if isinstance(node, ast.Attribute):
        return f"{kind} {node.attr}"
    if isinstance(node, ast.keyword):
        return f"{kind} {node.arg}"
    if isinstance(node, ast.Name) and node.id in BUILTINS and node.id not in bound:
        return f"{kind} {node.id}"
    if isinstance(node, ast.Constant) and not isinstance(node.value, str | bytes):
        value = node.value
        large = isinstance(value, int) and abs(value) >= LARGE  # slow to write, or refused
        return f"{kind} {'large' if large else value}"
    return kind


def main() -> None:
    """Answer requests, a line of JSON each: {"sources", "seconds"} to {"fingerprints"}.

    A request that exceeds its limit of CPU seconds ends the process.
    """
    gc.disable()  # trees have no cycles, and collecting takes a third of the time
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        request = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, request["seconds"])
        answer = {"fingerprints": [fingerprints(source) for source in request["sources"]]}
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
