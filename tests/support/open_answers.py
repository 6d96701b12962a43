"""Find the answers to exercises that the book's pages show openly.

Syntax trees are compared: differences in names, annotations, docstrings, refused arguments and
single-use variables are ignored. An answer is open if the reference or an alternative of its
exercise occurs in what a class's edition of any page shows: cells, folded or not, code in the text,
and included files. A reference behind the fold of `answer` is not open.

`PYTHONPATH=. python tests/support/open_answers.py` prints them, chapter by chapter.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from copy import deepcopy
from difflib import SequenceMatcher
from functools import cache

import cells

from autograder.exercise.answers import Function, source
from exercises import COURSE

IGNORED = {"annotation", "ctx", "decorator_list", "kind", "name", "returns", "type_comment"}
EXPRESSION = 10
"""The number of nodes from which an expression is recognised as an answer wherever it occurs."""
LONG, CLOSE = 40, 0.73
"""A function with this many nodes is a copy if this share of them is the same, in order."""

Definition = ast.FunctionDef | ast.ClassDef


def open_answers(pages: Iterable[str], chapters: Iterable[str]) -> dict[str, list[str]]:
    """Return, for each of `chapters`, the exercises whose answer one of `pages` shows."""
    trees = {page: page_tree(page_text(page)) for page in pages}
    whole = ast.Module([statement for tree in trees.values() for statement in tree.body], [])
    defined = {page: names(tree) for page, tree in trees.items()}
    return {
        chapter: [
            name
            for name, rights in answers(chapter).items()
            if name in defined.get(chapter, ()) or any(occurs(right, whole) for right in rights)
        ]
        for chapter in chapters
    }


def page_text(page: str) -> str:
    return (cells.BOOK / f"{page}.md").read_text(encoding="utf-8")


def page_tree(text: str) -> ast.Module:
    """Return all code of a page that a class's edition shows, simplified."""
    shown = [code for code in cells.code(text) if code.shown != cells.REMOVED]
    return simplified(ast.Module([statement for code in shown for statement in code.tree.body], []))


def names(page: ast.Module) -> set[str]:
    """Return the names of the functions and classes that a page defines."""
    return {node.name for node in page.body if isinstance(node, Definition)}


@cache
def answers(chapter: str) -> dict[str, list[Definition]]:
    """Return the correct answers to each exercise of `chapter`."""
    return {
        exercise.name: [tree_of(right) for right in (exercise.reference, *exercise.alternatives)]
        for exercise in COURSE[chapter].exercises
    }


def tree_of(answer: Function) -> Definition:
    """Return the definition of a function or class, simplified."""
    (node,) = simplified(ast.parse(source(answer))).body
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    return node


# Ignored differences


def simplified(tree: ast.Module) -> ast.Module:
    """Return a copy of `tree` in which every definition is normalised."""
    return Simplify().visit(deepcopy(tree))


class Simplify(ast.NodeTransformer):
    """Drop docstrings and refused arguments; inline variables that are used once."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.body = inlined(
            [statement for statement in without_docstring(node.body) if not refuses(statement)]
        )
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.generic_visit(node)
        node.body = without_docstring(node.body)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value, lineno=node.lineno) if node.value else node


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    constant = first.value if isinstance(first, ast.Expr) else None
    is_text = isinstance(constant, ast.Constant) and isinstance(constant.value, str)
    return body[1:] if is_text else body


def refuses(statement: ast.stmt) -> bool:
    """Return True if a statement only raises an exception, perhaps under a condition."""
    if isinstance(statement, ast.If) and not statement.orelse:
        return all(isinstance(inner, ast.Raise) for inner in statement.body)
    return isinstance(statement, ast.Raise | ast.Assert)


def inlined(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return `body` with each variable inlined that is assigned once and read once."""
    names = [
        node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name)
    ]
    written_counts = Counter(node.id for node in names if isinstance(node.ctx, ast.Store))
    read_counts = Counter(node.id for node in names if isinstance(node.ctx, ast.Load))
    values: dict[str, ast.expr] = {}
    result = []
    for part_ in (part for statement in body for part in split(statement)):
        part_ = Replace(values).visit(part_)
        target = part_.targets[0] if isinstance(part_, ast.Assign) else None
        if (
            isinstance(target, ast.Name)
            and written_counts[target.id] == read_counts[target.id] == 1
        ):
            values[target.id] = part_.value
        else:
            result.append(part_)
    return result


def split(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Yield `a = x` and `b = y` for `a, b = x, y`, and any other statement as it is."""
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Tuple):
        target = statement.targets[0]
        if isinstance(target, ast.Tuple):
            for name, part in zip(target.elts, statement.value.elts, strict=False):
                yield ast.Assign([name], part, lineno=statement.lineno)
            return
    yield statement


class Replace(ast.NodeTransformer):
    """Replace names by values."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


# The comparison


def occurs(answer: Definition, page: ast.AST) -> bool:
    """Return True if `answer` occurs anywhere in `page`, both simplified, up to names."""
    body = answer.body
    if any(close(answer, node) for node in nodes(page) if type(node) is type(answer)):
        return True
    if len(body) == 1 and isinstance(body[0], ast.Return) and len(shape(body[0])) > EXPRESSION:
        return any(alike(body[0].value, node, {}) for node in nodes(page))
    return any(
        block_alike(body, block[start : start + len(body)])
        for block in blocks(page)
        for start in range(len(block) - len(body) + 1)
    )


def close(answer: Definition, page: Definition) -> bool:
    """Return True if two definitions are nearly the same.

    Short definitions may differ only in names; the shapes of longer ones are at least CLOSE alike.
    """
    answer_shape, page_shape = shape(answer), shape(page)
    if min(len(answer_shape), len(page_shape)) < LONG:
        return block_alike(answer.body, page.body)
    matcher = SequenceMatcher(None, answer_shape, page_shape, autojunk=False)
    bounds = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)  # cheap bounds first
    return all(ratio() >= CLOSE for ratio in bounds)


@cache
def nodes(tree: ast.AST) -> list[ast.AST]:
    """Return every node of a tree, cached, since each answer visits a page's tree."""
    return list(ast.walk(tree))


@cache
def shape(node: ast.AST) -> list[str]:
    """Return the contents of a tree in order: kinds of nodes, attributes and constants."""
    text = node.attr if isinstance(node, ast.Attribute) else getattr(node, "value", "")
    literal = isinstance(node, ast.Attribute | ast.Constant)
    words = [f"{type(node).__name__} {text}" if literal else type(node).__name__]
    for field, value in ast.iter_fields(node):
        parts = value if isinstance(value, list) else [value]
        if field not in IGNORED:
            words += [word for part in parts if isinstance(part, ast.AST) for word in shape(part)]
    return words


@cache
def blocks(page: ast.AST) -> list[list[ast.stmt]]:
    """Return every list of statements in `page`; the body of a lambda is a list of length 1."""
    lists: list[list[ast.stmt]] = [
        [ast.Return(node.body)] for node in nodes(page) if isinstance(node, ast.Lambda)
    ]
    for node in nodes(page):
        parts = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
        lists += [part for part in parts if isinstance(part, list)]
    return lists


def block_alike(answer: list[ast.stmt], page: list[ast.stmt]) -> bool:
    """Compare statement by statement; the page may name or show what the answer returns."""
    names: dict[str, str] = {}
    if len(answer) != len(page) or not answer:
        return False
    *first, last = answer
    if not all(alike(left, other, names) for left, other in zip(first, page, strict=False)):
        return False
    if isinstance(last, ast.Return) and last.value is not None:
        value = getattr(page[-1], "value", None)
        return value is not None and alike(last.value, value, names)
    return alike(last, page[-1], names)


def alike(answer: ast.AST, page: ast.AST, names: dict[str, str]) -> bool:
    """Return True if two trees differ only in names; `names` maps the answer's names to the page's.

    Distinct names of the answer stay distinct, but may be constants on the page.
    """
    if isinstance(answer, ast.Name | ast.arg):
        own = answer.id if isinstance(answer, ast.Name) else answer.arg
        if isinstance(page, ast.Constant):
            return names.setdefault(own, repr(page.value)) == repr(page.value)
        if not isinstance(page, ast.Name | ast.arg):
            return False
        name = page.id if isinstance(page, ast.Name) else page.arg
        return names.setdefault(own, name) == name and list(names.values()).count(name) == 1
    if type(answer) is not type(page):
        return False
    return all(
        same(getattr(answer, field, None), getattr(page, field, None), names)
        for field in answer._fields
        if field not in IGNORED
    )


def same(answer: object, page: object, names: dict[str, str]) -> bool:
    """Compare two fields of a node: trees, lists of trees, or plain values."""
    if isinstance(answer, ast.AST) and isinstance(page, ast.AST):
        return alike(answer, page, names)
    if isinstance(answer, list) and isinstance(page, list):
        pairs = zip(answer, page, strict=False)
        return len(answer) == len(page) and all(same(left, two, names) for left, two in pairs)
    return answer == page


def main() -> None:
    total = 0
    for chapter, names in open_answers(cells.CHAPTERS, cells.CHAPTERS).items():
        total += len(names)
        print(f"{chapter}: {len(names)} of {len(answers(chapter))}: {', '.join(names)}")
    print(f"{total} answers of {sum(len(answers(chapter)) for chapter in cells.CHAPTERS)}")


if __name__ == "__main__":
    main()
