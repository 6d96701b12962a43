"""Test that GitHub publishes only what was proved; zizmor checks the rest in `make lint`."""

from pathlib import Path
from typing import Any

import yaml

WORKFLOWS = Path(__file__).parents[1] / ".github" / "workflows"


def publishes(job: dict[str, Any]) -> bool:
    steps = [job, *job.get("steps", [])]
    return any(step.get("uses", "").startswith("actions/deploy-pages@") for step in steps)


def test_only_proven_builds_of_main_are_published() -> None:
    jobs = {
        (path.name, name): job
        for path in WORKFLOWS.iterdir()
        for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items()
    }
    assert [name for name, job in jobs.items() if publishes(job)] == [("prove.yml", "publish")]
    prove, publish, build = (jobs["prove.yml", name] for name in ("prove", "publish", "build"))
    assert not {"if", "continue-on-error"} & prove.keys(), (
        "a skipped or tolerated failure would count as success"
    )
    assert publish["needs"] == ["prove", "build"]
    assert "if" not in publish, "a condition would replace the requirement that its needs succeed"
    assert build["if"] == "github.ref == 'refs/heads/main'"
