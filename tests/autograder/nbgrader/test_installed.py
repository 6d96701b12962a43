"""The grader meets the nbgrader that it was made for, or says which one that is."""

import re
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder import cli
from autograder.nbgrader import installed

ROOT = Path(__file__).parents[3]


def test_the_pinned_version_is_of_the_series():
    pinned = re.search(r"^nbgrader==(\S+)$", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert pinned[1].startswith(f"{installed.SERIES}.")


@pytest.mark.parametrize("version", ["0.10.0", "0.8.5", "1.0.0", "0.90.1", None])
def test_another_version_or_none_is_one_line_for_the_instructor(tmp_path, monkeypatch, version):
    made = CliRunner().invoke(cli.app, ["init", str(tmp_path / "course")])
    assert made.exit_code == 0

    def found(name):
        if version is None:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(metadata, "version", found)
    for name in ("autograder.nbgrader", "autograder.nbgrader.export"):
        monkeypatch.delitem(__import__("sys").modules, name, raising=False)
    result = CliRunner().invoke(cli.app, ["export", "--course", str(tmp_path / "course")])
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert f"needs nbgrader {installed.SERIES}" in result.stderr
    assert (version or "not installed") in result.stderr
