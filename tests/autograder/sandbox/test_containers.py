"""Containers as sandboxes; test_program.py and the hostile corpus run in them, too."""

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


def left():
    """The containers of the grader that are there."""
    listing = ["ps", "--all", "--filter", "name=autograder-", "--format", "{{.Names}}"]
    programs = filter(None, map(shutil.which, ENGINES))
    found = [subprocess.run([one, *listing], capture_output=True, text=True) for one in programs]
    return [name for one in found for name in one.stdout.split()]


def test_a_container_is_gone_when_its_room_is(container):
    before = set(left())
    with closing(container), closing(container.room(wire.encode([]), torch=False)):
        assert len(set(left()) - before) == 1
    assert set(left()) <= before


def test_an_engine_that_does_not_run_is_named_with_its_reason(tmp_path, monkeypatch):
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
