"""Execute a chapter again when code that it imports has changed.

MyST-NB's execution cache knows a notebook by its own cells. A chapter whose cells stand still while
`solutions/` changes would therefore keep its old numbers. So, before each build reads its pages:

1. The cells of a notebook are parsed for imports, never run. Imports of modules that stand beside
   the book's folder (`solutions`, `autograder`) are followed from module to module.
2. A digest is taken of the files found, and of the versions of the installed packages that the
   notebook or these files import.
3. Where the digest differs from the one that the cache was filled under, this notebook's cache
   entries are dropped. Where it differs from the one that the page was read under, the page is
   read again. The two are kept apart (a file beside the cache, and Sphinx's own environment)
   because either may be deleted without the other.

An import that is made of a string at run time (`importlib`) is not seen, nor is a data file.
"""

import ast
import hashlib
import importlib.metadata
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager
from jupyter_cache import get_cache
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

DIGESTS = "imported_code.json"

logger = logging.getLogger(__name__)


def imported_names(source: str, package: str = "") -> Iterator[str]:
    """Yield the dotted name of everything that `source` imports, wherever in it.

    package: the package of the module that `source` is, which relative imports start from.
    `from a import b` yields "a" and "a.b", since b may be a module. Nothing for a syntax error:
    the execution will report it.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


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


def cells(path: Path) -> list[str]:
    """Return the code cells of a notebook as plain Python; none for a page that is no notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".md" or not is_myst_markdown_notebook(text):
        return []
    notebook = read_myst_markdown_notebook(text, path=path)
    transform = TransformerManager().transform_cell  # magics become calls
    return [transform(cell.source) for cell in notebook.cells if cell.cell_type == "code"]


def digest(sources: Iterable[str], root: Path) -> str:
    """Return one hash of all code that `sources` import."""
    files, others = follow(sources, root)
    result = hashlib.sha256()
    for file in sorted(files):
        content = file.read_bytes()
        result.update(f"{file.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    for name in sorted(others - sys.stdlib_module_names):
        try:
            result.update(f"{name} {importlib.metadata.version(name)}\n".encode())
        except importlib.metadata.PackageNotFoundError:
            continue
    return result.hexdigest()


def drop_cached(path: Path, cache_path: str) -> None:
    """Remove what the execution cache holds of the notebook at `path`."""
    cache = get_cache(cache_path)
    for record in cache.list_cache_records():
        if Path(record.uri) == path:
            cache.remove_cache(record.pk)


def find_outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Drop the cache entries of every notebook whose imported code changed; return their names."""
    root = Path(app.srcdir).parent
    cache_path = env.mystnb_config.execution_cache_path
    store = Path(cache_path) / DIGESTS
    cached = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    read: dict[str, str] = getattr(env, "course_imports", {})
    now = {}
    for name in env.found_docs:
        path = Path(env.doc2path(name))
        sources = cells(path)
        if sources:
            now[name] = digest(sources, root)
            if cached.get(name) != now[name]:
                drop_cached(path, cache_path)
    env.course_imports = now  # type: ignore[attr-defined]
    store.parent.mkdir(parents=True, exist_ok=True)
    store.write_text(json.dumps(now, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    outdated = [name for name in now if read.get(name) != now[name] and name not in added]
    if outdated:
        logger.info("code that they import has changed: %s", ", ".join(sorted(outdated)))
    return outdated


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-get-outdated", find_outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
