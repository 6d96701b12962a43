"""Fixtures: a course with the toy assignment released, and its command in this process."""

import classroom
import pytest
from classroom import make_course
from typer.testing import CliRunner

from autograder import cli


@pytest.fixture
def course(tmp_path, monkeypatch):
    classroom.known_everywhere(monkeypatch)
    return make_course(tmp_path / "course")


@pytest.fixture
def run(course, monkeypatch):
    """Return a function that runs a command, checks its exit code and returns its output.

    What is `typed` answers the command's questions.
    """
    monkeypatch.setenv("COLUMNS", "200")

    def command(*arguments, code=0, typed=None):
        words = [*map(str, arguments), "--course", str(course.root)]
        result = CliRunner().invoke(cli.app, words, input=typed)
        assert result.exit_code == code, result.output
        return " ".join((result.stderr if code else result.stdout).split())

    return command
