"""Which answers to exercises stand in the open on the book's pages.

Syntax trees are compared: names, annotations, docstrings, refused arguments and variables that are
used once make no difference. An answer is open if the reference or an alternative of its exercise
is found in what a class's edition shows of any page: in the cells, folded or not, in code among the
text, and in what a page includes. A reference behind the fold of `answer` is not in the open.

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

from autograder.exercise.answers import source
from exercises import COURSE

IGNORED = {"annotation", "ctx", "decorator_list", "kind", "name", "returns", "type_comment"}
EXPRESSION = 10
"""So many nodes an expression needs to be known as an answer wherever it stands."""
LONG, CLOSE = 40, 0.73
"""A function of so many nodes is a copy if so large a share of them is the same, in order."""

Definition = ast.FunctionDef | ast.ClassDef


def open_answers(pages: Iterable[str], chapters: Iterable[str]) -> dict[str, list[str]]:
    """Return, for each of `chapters`, the exercises whose answer stands on one of `pages`."""
    trees = {page: page_tree(page_text(page)) for page in pages}
    whole = ast.Module([one for tree in trees.values() for one in tree.body], [])
    defined = {page: names(tree) for page, tree in trees.items()}
    return {
        chapter: [
            name
            for name, rights in answers(chapter).items()
            if name in defined.get(chapter, ()) or any(found(right, whole) for right in rights)
        ]
        for chapter in chapters
    }


def page_text(page: str) -> str:
    return (cells.BOOK / f"{page}.md").read_text(encoding="utf-8")


def page_tree(text: str) -> ast.Module:
    """Return all code of a page that a class's edition shows, simplified."""
    shown = [code for code in cells.code(text) if code.shown != cells.REMOVED]
    return simplified(ast.Module([one for code in shown for one in code.tree.body], []))


def names(page: ast.Module) -> set[str]:
    """Return the names of the functions and classes that a page defines."""
    return {node.name for node in page.body if isinstance(node, Definition)}


@cache
def answers(chapter: str) -> dict[str, list[Definition]]:
    """Return, for each exercise of `chapter`, its right answers."""
    return {
        exercise.name: [tree_of(right) for right in (exercise.reference, *exercise.alternatives)]
        for exercise in COURSE[chapter].exercises
    }


def tree_of(answer: object) -> Definition:
    """Return the definition of a function or class, simplified."""
    (node,) = simplified(ast.parse(source(answer))).body
    return node


# What makes no difference


def simplified(tree: ast.Module) -> ast.Module:
    """Return a copy of `tree` in which every definition is brought into one form."""
    return Simplify().visit(deepcopy(tree))


class Simplify(ast.NodeTransformer):
    """Drop docstrings and refused arguments; put variables that are used once where they are."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.body = inlined([one for one in without_docstring(node.body) if not refuses(one)])
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
    text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if text and isinstance(first.value.value, str) else body


def refuses(statement: ast.stmt) -> bool:
    """Tell whether a statement does nothing but raise an exception, perhaps under a condition."""
    if isinstance(statement, ast.If) and not statement.orelse:
        return all(isinstance(inner, ast.Raise) for inner in statement.body)
    return isinstance(statement, ast.Raise | ast.Assert)


def inlined(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return `body` with each variable that is assigned once and read once put where it is read."""
    names = [node for one in body for node in ast.walk(one) if isinstance(node, ast.Name)]
    written = Counter(node.id for node in names if isinstance(node.ctx, ast.Store))
    read = Counter(node.id for node in names if isinstance(node.ctx, ast.Load))
    values: dict[str, ast.expr] = {}
    result = []
    for one in (part for statement in body for part in split(statement)):
        one = Replace(values).visit(one)
        target = one.targets[0] if isinstance(one, ast.Assign) else None
        if isinstance(target, ast.Name) and written[target.id] == read[target.id] == 1:
            values[target.id] = one.value
        else:
            result.append(one)
    return result


def split(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Yield `a = x` and `b = y` for `a, b = x, y`, and any other statement as it is."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
        for name, value in zip(target.elts, statement.value.elts, strict=False):
            yield ast.Assign([name], value, lineno=statement.lineno)
    else:
        yield statement


class Replace(ast.NodeTransformer):
    """Put values in the place of names."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


# The comparison


def found(answer: Definition, page: ast.AST) -> bool:
    """Tell whether `answer` stands anywhere in `page`, both simplified, names aside."""
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
    """Tell whether two definitions are nearly the same."""
    one, other = shape(answer), shape(page)
    if min(len(one), len(other)) < LONG:
        return block_alike(answer.body, page.body)
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    bounds = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)  # from above
    return all(ratio() >= CLOSE for ratio in bounds)


@cache
def nodes(tree: ast.AST) -> list[ast.AST]:
    """Return every node of a tree: of a page's, once for all answers."""
    return list(ast.walk(tree))


@cache
def shape(node: ast.AST) -> list[str]:
    """Return what stands in a tree, in order: kinds of nodes, attributes and constants."""
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
    """Return every list of statements in `page`; the body of a lambda is a list of one."""
    found = [[ast.Return(node.body)] for node in nodes(page) if isinstance(node, ast.Lambda)]
    for node in nodes(page):
        parts = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
        found += [part for part in parts if isinstance(part, list)]
    return found


def block_alike(answer: list[ast.stmt], page: list[ast.stmt]) -> bool:
    """Compare statement by statement; what the answer returns, the page may name or show."""
    names: dict[str, str] = {}
    if len(answer) != len(page) or not answer:
        return False
    *first, last = answer
    if not all(alike(one, other, names) for one, other in zip(first, page, strict=False)):
        return False
    if isinstance(last, ast.Return) and last.value is not None:
        value = getattr(page[-1], "value", None)
        return value is not None and alike(last.value, value, names)
    return alike(last, page[-1], names)


def alike(answer: ast.AST, page: ast.AST, names: dict[str, str]) -> bool:
    """Tell whether two trees differ in names alone; `names` maps the answer's to the page's.

    Two names of the answer are two on the page. A name of the answer may be a constant there.
    """
    if isinstance(answer, ast.Name | ast.arg):
        own = answer.id if isinstance(answer, ast.Name) else answer.arg
        if isinstance(page, ast.Constant):
            return names.setdefault(own, repr(page.value)) == repr(page.value)
        if not isinstance(page, ast.Name | ast.arg):
            return False
        other = page.id if isinstance(page, ast.Name) else page.arg
        return names.setdefault(own, other) == other and list(names.values()).count(other) == 1
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
        return len(answer) == len(page) and all(same(one, two, names) for one, two in pairs)
    return answer == page


def main() -> None:
    total = 0
    for chapter, names in open_answers(cells.CHAPTERS, cells.CHAPTERS).items():
        total += len(names)
        print(f"{chapter}: {len(names)} of {len(answers(chapter))}: {', '.join(names)}")
    print(f"{total} answers of {sum(len(answers(chapter)) for chapter in cells.CHAPTERS)}")


if __name__ == "__main__":
    main()
