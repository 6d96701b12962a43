"""What is installed: each extra is pinned, and a missing one says what to type."""

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
from course_build.inputs import imported_names
from packaging.specifiers import SpecifierSet

from autograder.notebook import TORCH_INDEX

ROOT = Path(__file__).parents[1]
PINS = (ROOT / "requirements.txt").read_text(encoding="utf-8")
OURS = {"attention-from-the-bottleneck-up", "attention-autograder"}
OLDEST = "3.11.2"  # Debian 12's own
PIN = re.compile(r"^([\w.-]+)==(\S+)$", re.MULTILINE)


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=\[ ]", name)[0]).lower()


def pinned(text: str) -> set[str]:
    return {normalised(name) for name, _ in PIN.findall(text)}


def declared() -> set[str]:
    """Return what the course, the engine and their extras ask for."""
    projects = [
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for folder in (".", "autograder")
    ]
    asked = chain.from_iterable(
        chain(project["dependencies"], *project["optional-dependencies"].values())
        for project in projects
    )
    return {normalised(requirement) for requirement in asked} - OURS


def test_what_the_extras_ask_for_is_what_requirements_pin_directly():
    direct, _ = PINS.split("# What these bring along")
    assert declared() == pinned(direct)


def imported() -> dict[str, set[str]]:
    """By what our files import, the distributions that may hold it."""
    files = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    files = [path for path in files if not path.startswith("tests/hostile/")]
    names = set()
    for path in files:
        package = ".".join(Path(path).parent.parts)  # which relative imports start from
        names |= {*imported_names((ROOT / path).read_text(encoding="utf-8"), package)}
    there = metadata.packages_distributions()
    tops = {name.partition(".")[0] for name in names}
    return {top: {normalised(one) for one in there[top]} for top in tops if top in there}


def test_what_is_imported_is_asked_for():
    asked = declared() | OURS
    assert {name: found for name, found in imported().items() if not found & asked} == {}


def test_the_engine_lists_all_of_its_packages():
    engine = ROOT / "autograder"
    listed = tomllib.loads((engine / "pyproject.toml").read_text(encoding="utf-8"))
    folders = {path.parent.relative_to(ROOT) for path in engine.rglob("__init__.py")}
    names = sorted(".".join(folder.parts) for folder in folders)
    assert listed["tool"]["setuptools"]["packages"] == names


def test_every_line_of_the_requirements_is_a_pin():
    lines = [line for line in PINS.splitlines() if line and not line.startswith("#")]
    assert [line for line in lines if not PIN.fullmatch(line)] == []


def test_every_pin_can_be_installed_with_the_oldest_python_that_the_course_takes():
    refused = []
    for name, version in PIN.findall(PINS):
        found = metadata.metadata(name)
        here = found["Version"].split("+")[0]  # torch names its kind of processor
        assert here == version, f"{name} is pinned in another version than is here"
        asked = found.get("Requires-Python", "")
        if not SpecifierSet(asked).contains(OLDEST):
            refused.append(f"{name}=={version} needs Python {asked}")
    assert refused == []


def command(*statements: str) -> subprocess.CompletedProcess[str]:
    code = "\n".join(("import sys", *statements, "from autograder.__main__ import main", "main()"))
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize(
    ("package", "arguments", "extra"),
    [
        ("typer", ["--help"], "'./autograder[grading]'"),
        ("nbgrader", ["release", "--course", "COURSE"], "'./autograder[grading]'"),
        (
            "torch",
            ["release", "--course", "COURSE", "transformer"],
            f"'./autograder[torch]' --extra-index-url {TORCH_INDEX}",
        ),
    ],
)
def test_a_missing_package_is_one_line_that_says_what_to_type(tmp_path, package, arguments, extra):
    course = str(tmp_path / "course")
    assert command(f"sys.argv[1:] = ['init', {course!r}]").returncode == 0
    given = [course if argument == "COURSE" else argument for argument in arguments]
    done = command(f"sys.modules[{package!r}] = None", f"sys.argv[1:] = {given}")
    assert done.returncode == 1
    assert done.stderr == (
        f"autograder: the package {package} is missing. In the folder of the course, type: "
        f"pip install --constraint requirements.txt --editable {extra}\n"
    )


def test_a_module_of_ours_that_is_missing_keeps_its_traceback():
    done = command("sys.modules['autograder.cli'] = None")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
