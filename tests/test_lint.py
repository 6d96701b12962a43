"""The checks that take seconds are one list: for `make test`, `make quick` and the commit hook."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]


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


def test_lint_is_the_four_checks() -> None:
    lines = [line for line in planned("lint").splitlines() if not line.startswith("command")]
    assert [line.split()[0] for line in lines] == ["ruff", "ruff", "mypy", "lint-imports"]


@pytest.mark.parametrize("target", ["test", "quick"])
def test_a_target_runs_the_list(target: str) -> None:
    assert planned("lint") in planned(target)


def test_the_commit_hook_runs_the_list_with_the_programs_that_are_there() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (repository,) = hooks["repos"]
    assert repository["repo"] == "local"
    assert [(hook["entry"], hook["language"]) for hook in repository["hooks"]] == [
        ("make lint", "system")
    ]
