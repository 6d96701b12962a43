"""Test the dependencies: every extra is pinned, and a missing package names its extra."""

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
OWN_PACKAGES = {"attention-from-the-bottleneck-up", "attention-autograder"}
OLDEST = "3.11.2"  # the version in Debian 12
PIN = re.compile(r"^([\w.-]+)==(\S+)$", re.MULTILINE)


def normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=\[ ]", name)[0]).lower()


def pinned_names(text: str) -> set[str]:
    return {normalise(name) for name, _ in PIN.findall(text)}


def declared_requirements() -> set[str]:
    """Return the requirements of the course, the engine and their extras."""
    projects = [
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for folder in (".", "autograder")
    ]
    requirements = chain.from_iterable(
        chain(project["dependencies"], *project["optional-dependencies"].values())
        for project in projects
    )
    return {normalise(requirement) for requirement in requirements} - OWN_PACKAGES


def test_extras_match_the_direct_pins():
    direct, _ = PINS.split("# What these bring along")
    assert declared_requirements() == pinned_names(direct)


def imported_distributions() -> dict[str, set[str]]:
    """Return the distributions that may provide each package that the project imports."""
    files = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    files = [path for path in files if not path.startswith("tests/hostile/")]
    names = set()
    for path in files:
        package = ".".join(Path(path).parent.parts)  # the origin of relative imports
        names |= {*imported_names((ROOT / path).read_text(encoding="utf-8"), package)}
    distributions = metadata.packages_distributions()
    tops = {name.partition(".")[0] for name in names}
    return {
        top: {normalise(distribution) for distribution in distributions[top]}
        for top in tops
        if top in distributions
    }


def test_imported_packages_are_declared():
    known = declared_requirements() | OWN_PACKAGES
    assert {
        name: distributions
        for name, distributions in imported_distributions().items()
        if not distributions & known
    } == {}


def test_engine_lists_all_of_its_packages():
    engine = ROOT / "autograder"
    project = tomllib.loads((engine / "pyproject.toml").read_text(encoding="utf-8"))
    folders = {path.parent.relative_to(ROOT) for path in engine.rglob("__init__.py")}
    names = sorted(".".join(folder.parts) for folder in folders)
    assert project["tool"]["setuptools"]["packages"] == names


def test_every_requirement_is_pinned():
    lines = [line for line in PINS.splitlines() if line and not line.startswith("#")]
    assert [line for line in lines if not PIN.fullmatch(line)] == []


def test_every_pin_supports_the_oldest_python():
    refused = []
    for name, version in PIN.findall(PINS):
        fields = metadata.metadata(name)
        installed = fields["Version"].split("+")[0]  # torch appends its kind of processor
        assert installed == version, f"{name} is installed in another version than pinned"
        specifier = fields.get("Requires-Python", "")
        if not SpecifierSet(specifier).contains(OLDEST):
            refused.append(f"{name}=={version} needs Python {specifier}")
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
def test_missing_package_gives_a_one_line_install_command(tmp_path, package, arguments, extra):
    course = str(tmp_path / "course")
    assert command(f"sys.argv[1:] = ['init', {course!r}]").returncode == 0
    command_line = [course if argument == "COURSE" else argument for argument in arguments]
    process = command(f"sys.modules[{package!r}] = None", f"sys.argv[1:] = {command_line}")
    assert process.returncode == 1
    assert process.stderr == (
        f"autograder: the package {package} is missing. In the folder of the course, type: "
        f"pip install --constraint requirements.txt --editable {extra}\n"
    )


def test_missing_own_module_keeps_its_traceback():
    process = command("sys.modules['autograder.cli'] = None")
    assert process.returncode == 1
    assert "Traceback" in process.stderr
