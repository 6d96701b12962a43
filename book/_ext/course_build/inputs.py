"""The inputs of a page: everything that can change its outputs, and nothing else.

1. The code of its cells, in order, and the tags and names that decide where a cell's outputs are
   written (`outputs.effects`). Prose, captions and other tags change no output.
2. The code that it imports. The cells are parsed for imports and never run. Imports of modules
   in the project's folder (`solutions`) are followed from module to module. Comments, docstrings
   and layout do not count. If a folder has the name of a module and is not a package, its files are
   the module's data.
3. The files that it reads: `read_figure_data("name", "chapter")` and `read_model_data` read results
   of another page, `read_measured("name")` reads a table in `book/measured/`. Timings do not count.
4. The pinned versions of the packages of COMPUTING that it imports.
5. The settings of its kernel, and a version number of the format in which outputs are written.

Imports by a string at run time (`importlib`) are not detected, and neither are other files.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

COMPUTING = ("matplotlib", "numpy", "sacrebleu", "safetensors", "tokenizers", "torch")
"""The packages whose version can change a number or a figure; requirements.txt pins each."""

PIN = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """A code cell. source: plain Python. effect: settings that decide what is written of it."""

    source: str
    effect: str = ""

    @cached_property
    def digest(self) -> str:
        """The digest of source and effect."""
        return digest((code_of(self.source, docstrings=True) + self.effect).encode())


def imported_names(source: str, package: str = "") -> Iterator[str]:
    """Yield the dotted name of everything that `source` imports, at any place in it.

    package: the package of the module `source`, from which relative imports start.
    `from a import b` yields "a" and "a.b", since b may be a module. A source with a syntax error
    yields nothing, since the execution will report it.
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

    Raises ValueError for an argument that is not a string literal: the file that the call reads
    would only be known at run time, which is too late to decide in which order to execute pages.
    """
    candidates = (source for source in sources if function in source)
    for node in (node for source in candidates for node in nodes(source)):
        if not isinstance(node, ast.Call):
            continue
        if getattr(node.func, "id", getattr(node.func, "attr", None)) != function:
            continue
        values = [getattr(argument, "value", None) for argument in node.args]
        texts = tuple(value for value in values if isinstance(value, str))
        if node.keywords or len(texts) < len(values):
            raise ValueError(f"write the arguments as plain strings: {ast.unparse(node)}")
        yield texts


def nodes(source: str) -> Iterator[ast.AST]:
    """Yield every node of the syntax tree of `source`; none if it has a syntax error."""
    try:
        yield from ast.walk(ast.parse(source))
    except SyntaxError:
        return


@cache
def module_files(name: str, root: Path) -> list[tuple[str, Path]]:
    """Return (package, file) of the module `name` under `root` and of the packages that contain it.

    Parts of `name` that are not modules (a function, a class) are left out, so the list is empty
    for a module that is not under `root`.
    """
    files = []
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        path = root.joinpath(*parts[:length])
        if (path / "__init__.py").is_file():
            files.append((".".join(parts[:length]), path / "__init__.py"))
        elif path.with_suffix(".py").is_file():
            files.append((".".join(parts[: length - 1]), path.with_suffix(".py")))
        else:
            break
    return files


@cache
def imports_of(file: Path, package: str, written: int) -> tuple[str, ...]:
    """Return the names that a module imports. written: its time of change, for the cache."""
    return tuple(imported_names(file.read_text(encoding="utf-8"), package))


def follow(sources: Iterable[str], root: Path) -> tuple[set[Path], set[str]]:
    """Return the files under `root` that `sources` import, directly or not, and all other names.

    The other names are the top-level names of the installed packages.
    """
    files: set[Path] = set()
    others: set[str] = set()
    waiting = [tuple(imported_names(source)) for source in sources]
    while waiting:
        for name in waiting.pop():
            modules = module_files(name, root)
            if not modules:
                others.add(name.split(".")[0])
            for package, file in modules:
                if file not in files:
                    files.add(file)
                    waiting.append(imports_of(file, package, file.stat().st_mtime_ns))
    return files, others


def made_from(
    cells: Sequence[Cell], read: Mapping[str, Path], settings: Mapping[str, Any], root: Path
) -> dict[str, Any]:
    """Return the digests of everything that a page is made from, by name.

    read: the files that it reads, by name; a missing file counts as an empty one. settings: the
    settings of its kernel. root: the project's folder.
    """
    return {
        **of_code(tuple(cells), root),
        "reads": {name: of_file(path) for name, path in sorted(read.items())},
        "settings": digest(repr(sorted(settings.items())).encode()),
    }


def of_code(cells: Sequence[Cell], root: Path) -> dict[str, Any]:
    """Return the part of `made_from` that depends only on code and packages."""
    files, others = follow([cell.source for cell in cells], root)
    pins = pinned(root / "requirements.txt")
    return {
        "cells": [cell.digest for cell in cells],
        "code": {
            path.relative_to(root).as_posix(): of_file(path)
            for file in sorted(files)
            for path in [file, *data_of(file)]
        },
        "packages": {name: pins.get(name, "any") for name in COMPUTING if name in others},
    }


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the differences between two results of `made_from`, in words."""
    words = []
    if before["cells"] != now["cells"]:
        pairs = zip(before["cells"], now["cells"], strict=False)
        changed = [f"code cell {at}" for at, (a, b) in enumerate(pairs, start=1) if a != b]
        same_number = len(before["cells"]) == len(now["cells"])
        words += changed if same_number and len(changed) < 4 else ["its code cells"]
    for kind in ("code", "reads"):
        words += [f"`{name}`" for name in _changed(before[kind], now[kind])]
    for name in _changed(before["packages"], now["packages"]):
        versions = (
            packages.get(name, "none") for packages in (before["packages"], now["packages"])
        )
        words.append(f"{name} ({' to '.join(versions)})")
    if before["settings"] != now["settings"]:
        words.append("the way in which pages are executed")
    return words


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))


def pinned(requirements: Path) -> dict[str, str]:
    """Return the pinned version of each package in a requirements file."""
    if not requirements.exists():
        return {}
    return dict(PIN.findall(requirements.read_text(encoding="utf-8")))


def data_of(module: Path) -> list[Path]:
    """Return the data files of a module: the files in a folder of its name that is no package."""
    folder = module.with_suffix("")
    if module.name == "__init__.py" or (folder / "__init__.py").exists():
        return []
    return sorted(path for path in folder.glob("*") if path.is_file())


@cache
def _code_of_file(path: Path, written: int) -> str:
    return digest(code_of(path.read_text(encoding="utf-8")).encode())


def of_file(path: Path) -> str:
    """Return the digest of a file: of the code of a Python module, of the bytes of other files."""
    if path.suffix == ".py":
        return _code_of_file(path, path.stat().st_mtime_ns)
    return digest(path.read_bytes() if path.exists() else b"")


def code_of(source: str, docstrings: bool = False) -> str:
    """Return `source` in a normal form, without comments, layout and, by default, docstrings.

    Cells need their docstrings, since a cell shows a text that is its last statement. The form is
    the same in every Python version, unlike that of `ast.dump`.
    """
    try:
        return _form(ast.parse(source), docstrings)
    except SyntaxError:
        return source


def _form(node: Any, docstrings: bool) -> str:
    if isinstance(node, list):
        items = node if docstrings else [item for item in node if not _is_text(item)]
        return f"[{' '.join(_form(item, docstrings) for item in items)}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = (
        f"{name}={_form(value, docstrings)}"
        for name, value in ast.iter_fields(node)
        if isinstance(node, ast.Constant) or value not in (None, [])
    )
    return f"{type(node).__name__}({' '.join(fields)})"


def _is_text(node: Any) -> bool:
    """Return whether a statement is only a text, as a docstring is."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def digest(content: bytes) -> str:
    """Return a short digest of `content`."""
    return hashlib.sha256(content).hexdigest()[:16]
