"""Test that an unsupported version of nbgrader is refused and the supported one named."""

import re
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder import cli
from autograder.nbgrader import installed

ROOT = Path(__file__).parents[3]


def test_pinned_nbgrader_belongs_to_the_supported_series():
    pinned = re.search(r"^nbgrader==(\S+)$", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert pinned[1].startswith(f"{installed.SERIES}.")


@pytest.mark.parametrize("version", ["0.10.0", "0.8.5", "1.0.0", "0.90.1", None])
def test_missing_or_unsupported_nbgrader_gives_a_one_line_error(tmp_path, monkeypatch, version):
    creation = CliRunner().invoke(cli.app, ["init", str(tmp_path / "course")])
    assert creation.exit_code == 0

    def installed_version(name):
        if version is None:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(metadata, "version", installed_version)
    for name in ("autograder.nbgrader", "autograder.nbgrader.export"):
        monkeypatch.delitem(__import__("sys").modules, name, raising=False)
    result = CliRunner().invoke(cli.app, ["export", "--course", str(tmp_path / "course")])
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert f"needs nbgrader {installed.SERIES}" in result.stderr
    assert (version or "not installed") in result.stderr
