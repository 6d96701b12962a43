"""A pytest plugin, for `make quick`: run the tests that a change touches, the nearest first.

    pytest -p touched --since HEAD

A test is touched by a changed file that its own file imports, directly or not, or names. A test of
the exercises is touched by the check and the reference of its exercise; when the engine itself has
changed, it runs only for the exercises of SAMPLE. BUDGET seconds after the first test has started,
the running test is stopped and no other is started; the last line says how many tests are left to
`make test`.

pytest-testmon would not do: it needs a whole run first, and it runs no test again whose subprocess
or data file has changed. Here answers run in subprocesses, and pages and templates are data.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import signal
import subprocess
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

import grimp
import pytest

PACKAGES = ("autograder", "exercises", "solutions")
SUPPORT = ("tests/support", "tests/book", "")  # where imports of a test are looked up
CHECKS = "exercises"
SAMPLE = "self_attention"
BUDGET = 25
LEFT = "the time for a quick look is over"
FAR = 1000


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--since", default="HEAD", help="the commit that the changes are counted from")


def pytest_configure(config: pytest.Config) -> None:
    changed = changed_files(config.rootpath, config.getoption("since"))
    config.pluginmanager.register(Selection(config.rootpath, changed))


class Selection:
    """The tests that a change of some files touches."""

    def __init__(self, root: Path, changed: Iterable[str]) -> None:
        self.root = root
        self.modules = {name for name in map(module_name, changed) if name}
        self.files = {root / path for path in changed}
        self.others = {Path(path) for path in changed if not of_python(path)}
        self.engine = {name for name in self.modules if not of_a_chapter(name)}
        self.graph = grimp.build_graph(*PACKAGES)
        self.started = 0.0

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Skip a test file that no change can touch, before it is imported."""
        if collection_path.suffix != ".py" or self.distance(collection_path) < FAR:
            return None
        reads_exercises = CHECKS in imports(collection_path)
        return None if reads_exercises and self.modules - self.engine else True

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        touched = [(self.nearness(item), item) for item in items]
        chosen = [(near, item) for near, item in touched if near < FAR]
        nearest: dict[Path, int] = {}  # a file's tests stay together: they share what they set up
        for near, item in chosen:
            nearest[item.path] = min(near, nearest.get(item.path, FAR))
        chosen.sort(key=lambda pair: (nearest[pair[1].path], str(pair[1].path), pair[0]))
        config.hook.pytest_deselected(items=[item for near, item in touched if near == FAR])
        items[:] = [item for _, item in chosen]

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_setup(self) -> Generator[None, Any, Any]:
        self.started = self.started or time.monotonic()
        with self.limit():
            return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self) -> Generator[None, Any, Any]:
        with self.limit():
            return (yield)

    def left(self) -> float:
        """Return the seconds that are left of the budget."""
        return self.started + BUDGET - time.monotonic()

    @contextlib.contextmanager
    def limit(self) -> Iterator[None]:
        """Skip the running test when the time is over, and every test that has not started."""
        if self.left() <= 0:
            pytest.skip(LEFT)
        before = signal.signal(signal.SIGALRM, lambda *_: pytest.skip(LEFT))
        signal.setitimer(signal.ITIMER_REAL, max(self.left(), 0.001))
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def nearness(self, item: pytest.Item) -> int:
        """Return the number of imports from a test to the nearest change, or FAR."""
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        for value in parameters.values():
            own = modules_of(value) & self.graph.modules  # without toys
            if own:
                near = min(self.steps(own, self.modules - self.engine), default=FAR)
                sample = any(name.startswith(f"{CHECKS}.{SAMPLE}") for name in own)
                return min(near, self.distance(item.path)) if sample else near
        return self.distance(item.path)

    @functools.cache  # noqa: B019 - one selection lives as long as the run
    def distance(self, path: Path) -> int:
        """Return the nearness of a test file, regardless of the exercises of its tests."""
        if path in self.files or path.with_name("conftest.py") in self.files:
            return 0
        helpers = [path, *followed(path, self.root)]
        if self.files & set(helpers) or any(names(helper, self.others) for helper in helpers):
            return 1
        own = {name for helper in helpers for name in imports(helper)}
        return min(self.steps(own & self.graph.modules, self.modules), default=FAR)

    def steps(self, start: Iterable[str], changed: set[str]) -> Iterator[int]:
        """Yield the number of imports from `start` to each changed module that it reaches."""
        reached: set[str] = set()
        level, count = set(start), 1
        while level:
            yield from (count for _ in level & changed)
            reached |= level
            below = (self.graph.find_modules_directly_imported_by(name) for name in level)
            level, count = set().union(*below) - reached, count + 1


def changed_files(root: Path, since: str) -> list[str]:
    """Return the files that differ from the commit, and the untracked files."""

    def git(*arguments: str) -> list[str]:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
        if done.returncode != 0:
            raise pytest.UsageError(f"git knows no changes since {since!r}: {done.stderr.strip()}")
        return done.stdout.splitlines()

    new = git("ls-files", "--others", "--exclude-standard")
    return sorted({*git("diff", "--name-only", "--relative", since), *new})


def module_name(path: str) -> str | None:
    """Return the name of the module in a file of the packages; None for another file."""
    file = Path(path)
    if file.suffix != ".py" or file.parts[0] not in PACKAGES:
        return None
    return ".".join(file.with_suffix("").parts).removesuffix(".__init__")


def of_python(path: str) -> bool:
    """Return True for a module or a file of the tests, both of which are found through imports."""
    return bool(module_name(path)) or path.startswith("tests/")


def of_a_chapter(module: str) -> bool:
    """Return True for a check or a reference; all other modules belong to the engine."""
    return module.startswith((f"{CHECKS}.", "solutions."))


def modules_of(value: Any) -> set[str]:
    """Return the modules that define an exercise, an assignment or a sample submission."""
    if hasattr(value, "misconceptions") and hasattr(value, "alternatives"):
        wrong = [misconception.wrong for misconception in value.misconceptions]
        code: list[Callable] = [value.reference, value.cases, value.hidden, *value.alternatives]
        return {inspect.unwrap(answer).__module__ for answer in (*code, *wrong)}
    if hasattr(value, "exercises"):
        return {f"{CHECKS}.{value.name}"}.union(*map(modules_of, value.exercises))
    if isinstance(getattr(value, "assignment", None), str):
        return {f"{CHECKS}.{value.assignment}"}
    return set()


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """Return the dotted names that a file imports; for `from a import b`, both a and a.b."""
    dotted: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            dotted |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            dotted |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(dotted)


def followed(path: Path, root: Path, visited: frozenset[Path] = frozenset()) -> set[Path]:
    """Return the files of the tests that a test imports, directly or not."""
    files: set[Path] = set()
    for name in imports(path):
        if name.split(".")[0] in PACKAGES:
            continue
        places = (root / folder / f"{name.replace('.', '/')}.py" for folder in SUPPORT)
        files |= {file for file in places if file.is_file()}
    for file in files - visited:
        files |= followed(file, root, visited | files)
    return files


def names(path: Path, changed: Iterable[Path]) -> bool:
    """Return True if a test file names a changed file that no module imports, or its folder."""
    text = path.read_text(encoding="utf-8")
    quoted = {part for file in changed for part in (file.name, file.parent.name) if part}
    folders = {part for file in changed for part in file.parts if part in ("_ext", ".ci")}
    return any(f'"{name}"' in text for name in quoted) or any(folder in text for folder in folders)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    left = [report for report in skipped if LEFT in str(report.longrepr)]
    if left:
        terminalreporter.write_line(
            f"{len(left)} more tests are touched by the change. `make test` runs them too."
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK  # nothing has changed that a test imports or names
