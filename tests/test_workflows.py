"""Test the GitHub workflows: pinned actions, few permissions, and only proven publications."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
PINNED = re.compile(r"[\w.-]+(?:/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
PUBLISHES = {"pages": "write", "id-token": "write"}


def workflow(path: Path) -> dict[str, Any]:
    """Return the parsed workflow with all values as text, since `on` is a boolean in YAML."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)


def actions(job: dict[str, Any]) -> list[str]:
    """Return the actions that a job uses, in its steps or as a whole."""
    named = (step.get("uses", "") for step in [job, *job.get("steps", [])])
    return [name.split("@")[0] for name in named if name]


def jobs() -> dict[str, dict[str, Any]]:
    return workflow(ROOT / ".github" / "workflows" / "prove.yml")["jobs"]


def publishers(path: Path) -> list[str]:
    jobs_by_name = workflow(path)["jobs"]
    return [name for name, job in jobs_by_name.items() if "actions/deploy-pages" in actions(job)]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_digest_and_name_their_version(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    used = [line.split("uses:")[1].strip() for line in lines if "uses:" in line]
    read = [name for job in workflow(path)["jobs"].values() for name in actions(job)]
    assert [name.split("@")[0] for name in used] == read != []
    assert [name for name in used if not PINNED.fullmatch(name)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_jobs_have_read_permission_and_a_timeout(path: Path) -> None:
    content = workflow(path)
    assert content["permissions"] == {"contents": "read"}
    assert "concurrency" in content
    for name, job in content["jobs"].items():
        assert 0 < int(job["timeout-minutes"]) <= 350, name
        permissions = PUBLISHES if name in publishers(path) else {}
        assert job.get("permissions", {}) == permissions, name


def test_only_proven_builds_of_main_are_published() -> None:
    assert [(path.name, publishers(path)) for path in WORKFLOWS if publishers(path)] == [
        ("prove.yml", ["publish"])
    ]
    prove, publish, build = (jobs()[name] for name in ("prove", "publish", "build"))
    assert not {"if", "continue-on-error"} & prove.keys(), (
        "a skipped or tolerated failure would count as success"
    )
    assert publish["needs"] == ["prove", "build"]
    assert "if" not in publish, "a condition would replace the requirement that its needs succeed"
    assert build["if"] == "github.ref == 'refs/heads/main'"
