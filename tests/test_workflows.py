"""What GitHub runs: pinned actions with few rights, and nothing is published that is not proven."""

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
    """Its keys are read as text: `on` is a truth value in YAML."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)


def actions(job: dict[str, Any]) -> list[str]:
    """What a job uses: each of its steps, or all of it."""
    named = (step.get("uses", "") for step in [job, *job.get("steps", [])])
    return [name.split("@")[0] for name in named if name]


def jobs() -> dict[str, dict[str, Any]]:
    return workflow(ROOT / ".github" / "workflows" / "prove.yml")["jobs"]


def publishers(path: Path) -> list[str]:
    found = workflow(path)["jobs"]
    return [name for name, job in found.items() if "actions/deploy-pages" in actions(job)]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_its_digest_and_names_its_version(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    used = [line.split("uses:")[1].strip() for line in lines if "uses:" in line]
    read = [name for job in workflow(path)["jobs"].values() for name in actions(job)]
    assert [name.split("@")[0] for name in used] == read != []
    assert [name for name in used if not PINNED.fullmatch(name)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_job_may_read_what_is_here_and_ends_in_time(path: Path) -> None:
    found = workflow(path)
    assert found["permissions"] == {"contents": "read"}
    assert "concurrency" in found
    for name, job in found["jobs"].items():
        assert 0 < int(job["timeout-minutes"]) <= 350, name
        asked = PUBLISHES if name in publishers(path) else {}
        assert job.get("permissions", {}) == asked, name


def test_what_is_published_is_proven_first_and_of_main() -> None:
    assert [(path.name, publishers(path)) for path in WORKFLOWS if publishers(path)] == [
        ("prove.yml", ["publish"])
    ]
    prove, publish, build = (jobs()[name] for name in ("prove", "publish", "build"))
    assert not {"if", "continue-on-error"} & prove.keys(), "it would succeed unproven"
    assert publish["needs"] == ["prove", "build"]
    assert "if" not in publish, "a condition of its own would take the place of the needs' success"
    assert build["if"] == "github.ref == 'refs/heads/main'"
