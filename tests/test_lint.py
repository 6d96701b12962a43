"""Test that Biome and tsc find faults with the project's settings."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / "book" / "_web" / "node_modules" / ".bin"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.mjs", "const one = 1;", "noUnusedVariables"),
        ("a.mjs", "export const  one = 1;", "Formatter would have printed"),
        ("styles/a.css", "a { color: red !important }", "noImportantStyles"),
    ],
)
def test_biome_reports_faults(tmp_path: Path, name: str, text: str, message: str) -> None:
    """Check a faulty file in a folder with the project's layout and settings."""
    file = tmp_path / "book" / "_web" / name
    file.parent.mkdir(parents=True)
    file.write_text(f"{text}\n", encoding="utf-8")
    (tmp_path / ".biome.json").write_bytes((ROOT / ".biome.json").read_bytes())
    process = run_in(tmp_path, TOOLS / "biome", "check", "--error-on-warnings", ".")
    assert process.returncode != 0
    assert message in process.stdout + process.stderr


def test_types_of_every_script_are_checked(tmp_path: Path) -> None:
    (tmp_path / "a.mjs").write_text('Math.abs("one");\n', encoding="utf-8")
    shutil.copy(ROOT / "book" / "_web" / "jsconfig.json", tmp_path)
    process = run_in(tmp_path, TOOLS / "tsc", "--project", "jsconfig.json")
    assert process.returncode != 0
    assert "a.mjs(1,10)" in process.stdout


def run_in(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)
