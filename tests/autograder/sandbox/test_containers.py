"""Test containers as sandboxes; test_program.py and the hostile corpus use them too."""

import shutil
import subprocess
from contextlib import closing

import pytest

from autograder.probe import wire
from autograder.sandbox.backends import SandboxUnavailable, open_sandbox
from autograder.sandbox.containers import ENGINES

DOES_NOT_RUN = "#!/bin/sh\necho 'it does not run: %s' >&2\nexit 1\n"


@pytest.fixture
def container():
    try:
        return open_sandbox(mode="container")
    except SandboxUnavailable as error:
        pytest.skip(str(error))


def running_containers():
    """Return the names of the grader's existing containers."""
    listing = ["ps", "--all", "--filter", "name=autograder-", "--format", "{{.Names}}"]
    programs = filter(None, map(shutil.which, ENGINES))
    listings = [
        subprocess.run([program, *listing], capture_output=True, text=True) for program in programs
    ]
    return [name for process in listings for name in process.stdout.split()]


def test_container_is_removed_with_its_room(container):
    before = set(running_containers())
    with closing(container), closing(container.room(wire.encode([]), torch=False)):
        assert len(set(running_containers()) - before) == 1
    assert set(running_containers()) <= before


def test_container_engine_that_fails_is_named_with_the_reason(tmp_path, monkeypatch):
    for name in (*ENGINES, "bwrap"):
        program = tmp_path / name
        program.write_text(DOES_NOT_RUN % name)
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailable) as refused:
        open_sandbox()
    for name in (*ENGINES, "bwrap"):
        assert f"{name}: it does not run: {name}" in str(refused.value)
    assert "install bubblewrap" in str(refused.value)
