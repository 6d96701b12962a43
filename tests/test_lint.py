"""The checks that take seconds are one list: for `make test`, `make quick` and the commit hook."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / "book" / "_web" / "node_modules" / ".bin"


def planned(target: str) -> str:
    """The commands of a target of the Makefile, as a shell's own make would run them.

    Within `make test` the variables of that make would be inherited, and each list framed by lines
    about folders.
    """
    of_a_shell = {name: os.environ[name] for name in os.environ if not name.startswith("MAKE")}
    done = subprocess.run(
        ["make", "--dry-run", target],
        cwd=ROOT,
        env=of_a_shell,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_lint_is_the_six_checks() -> None:
    lines = [line for line in planned("lint").splitlines() if not line.startswith("command")]
    programs = [Path(line.split()[0]).name for line in lines]
    assert programs == ["ruff", "ruff", "biome", "tsc", "mypy", "lint-imports"]


@pytest.mark.parametrize("target", ["test", "quick"])
@pytest.mark.parametrize("part", ["lint", "scripts"])
def test_a_target_runs_the_list_and_the_tests_of_the_scripts(target: str, part: str) -> None:
    assert planned(part) in planned(target)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.mjs", "const one = 1;", "noUnusedVariables"),
        ("a.mjs", "export const  one = 1;", "Formatter would have printed"),
        ("styles/a.css", "a { color: red !important }", "noImportantStyles"),
    ],
)
def test_biome_finds_fault(tmp_path: Path, name: str, text: str, said: str) -> None:
    """With the project's own settings, in a folder of the same shape."""
    file = tmp_path / "book" / "_web" / name
    file.parent.mkdir(parents=True)
    file.write_text(f"{text}\n", encoding="utf-8")
    (tmp_path / ".biome.json").write_bytes((ROOT / ".biome.json").read_bytes())
    done = checked(tmp_path, TOOLS / "biome", "check", "--error-on-warnings", ".")
    assert done.returncode != 0
    assert said in done.stdout + done.stderr


def test_the_types_of_every_script_are_checked(tmp_path: Path) -> None:
    (tmp_path / "a.mjs").write_text('Math.abs("one");\n', encoding="utf-8")
    shutil.copy(ROOT / "book" / "_web" / "jsconfig.json", tmp_path)
    done = checked(tmp_path, TOOLS / "tsc", "--project", "jsconfig.json")
    assert done.returncode != 0
    assert "a.mjs(1,10)" in done.stdout


def checked(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_the_commit_hook_runs_the_list_with_the_programs_that_are_there() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (repository,) = hooks["repos"]
    assert repository["repo"] == "local"
    assert [(hook["entry"], hook["language"]) for hook in repository["hooks"]] == [
        ("make lint", "system")
    ]
