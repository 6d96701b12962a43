"""What a chapter depends on besides its own cells: code, packages, and the results of others.

MyST-NB's execution cache knows a notebook by its own cells. A chapter whose cells stand still while
`solutions/` changes would therefore keep its old numbers, and so would one that shows what another
chapter has measured. So:

1. The cells are parsed for imports, never run. Imports of modules that stand beside the book's
   folder (`solutions`, `autograder`) are followed from module to module.
2. The cells are parsed for what they read: `read_figure_data("name", "chapter")` is a result of
   another chapter, `read_measured("name")` a table in `book/measured/`.
3. One digest is taken of the modules and the data files found, and of the versions of the installed
   packages that the cells or these modules import.

An import that is made of a string at run time (`importlib`) is not seen, nor is any other file.
"""

import ast
import hashlib
import importlib.metadata
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path


def imported_names(source: str, package: str = "") -> Iterator[str]:
    """Yield the dotted name of everything that `source` imports, wherever in it.

    package: the package of the module that `source` is, which relative imports start from.
    `from a import b` yields "a" and "a.b", since b may be a module. Nothing for a syntax error:
    the execution will report it.
    """
    for node in nodes(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def calls(sources: Iterable[str], function: str) -> Iterator[tuple[str, ...]]:
    """Yield the arguments of every call of `function` in `sources`.

    Raises ValueError for an argument that is no string literal: what the call reads would only be
    known when it runs, which is too late to bring the chapters into an order.
    """
    for node in (node for source in sources for node in nodes(source)):
        if not isinstance(node, ast.Call):
            continue
        if getattr(node.func, "id", getattr(node.func, "attr", None)) != function:
            continue
        values = [getattr(argument, "value", None) for argument in node.args]
        texts = tuple(value for value in values if isinstance(value, str))
        if node.keywords or len(texts) < len(values):
            raise ValueError(f"write what it reads as plain strings: {ast.unparse(node)}")
        yield texts


def nodes(source: str) -> Iterator[ast.AST]:
    """Yield every node of the syntax tree of `source`; none for a syntax error."""
    try:
        yield from ast.walk(ast.parse(source))
    except SyntaxError:
        return


def module_files(name: str, root: Path) -> list[tuple[str, Path]]:
    """Return (package, file) of the module `name` under `root` and of the packages it stands in.

    Parts of `name` that are no modules (a function, a class) are left out; so the list is empty
    for a module that does not stand under `root`.
    """
    found = []
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        path = root.joinpath(*parts[:length])
        if (path / "__init__.py").is_file():
            found.append((".".join(parts[:length]), path / "__init__.py"))
        elif path.with_suffix(".py").is_file():
            found.append((".".join(parts[: length - 1]), path.with_suffix(".py")))
        else:
            break
    return found


def follow(sources: Iterable[str], root: Path) -> tuple[set[Path], set[str]]:
    """Return the files under `root` that `sources` import, directly or not, and all other names.

    The other names are the top-level names of the installed packages.
    """
    files: set[Path] = set()
    others: set[str] = set()
    waiting = [(source, "") for source in sources]
    while waiting:
        for name in imported_names(*waiting.pop()):
            found = module_files(name, root)
            if not found:
                others.add(name.split(".")[0])
            for package, file in found:
                if file not in files:
                    files.add(file)
                    waiting.append((file.read_text(encoding="utf-8"), package))
    return files, others


def digest(sources: Iterable[str], data: Iterable[Path], root: Path) -> str:
    """Return one hash of all code that `sources` import, and of the files of `data`.

    root: the project's folder. A file that is not there counts as an empty one.
    """
    files, others = follow(sources, root)
    result = hashlib.sha256()
    named = [(file.relative_to(root).as_posix(), file) for file in sorted(files)]
    for name, file in [*named, *((file.name, file) for file in sorted(data))]:
        content = file.read_bytes() if file.exists() else b""
        result.update(f"{name} {len(content)}\n".encode() + content)
    for name in sorted(others - sys.stdlib_module_names):
        try:
            result.update(f"{name} {importlib.metadata.version(name)}\n".encode())
        except importlib.metadata.PackageNotFoundError:
            continue
    return result.hexdigest()
