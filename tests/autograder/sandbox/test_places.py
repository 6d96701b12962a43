"""Test that the sandbox reveals nothing about the location of the clone and its environment."""

import json
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

import autograder

HOME = str(Path.home())
PLACES = {
    "tmp": ("/tmp", "clone", "."),
    "shared memory": ("/dev/shm", "clone", "."),
    "var tmp": ("/var/tmp", "clone", "."),
    "home with a blank": (HOME, "a clone ", "."),
    "folders in a home": (HOME, "alice ", "courses/attention 2026"),
}
"""Locations of a clone: a folder, the prefix of a folder made in it, and a path below that."""

SEEKER = (Path(__file__).parents[2] / "hostile" / "other_students" / "softmax.py").read_text()

LOOK = """
import json, sys
from autograder.sandbox import doctor
from autograder.probe.supervisor import COLD, WARM
doctor.KINDS = (WARM, COLD)
names = ("files of this machine", "private folders")
doctor.ATTEMPTS = [attempt for attempt in doctor.ATTEMPTS if attempt.name in names]
seeker = sys.stdin.read() + "\\nleaks = look()\\nassert not leaks, leaks\\nreturn False\\n"
doctor.ATTEMPTS.append(doctor.Attempt("names of folders", "looks for them", seeker))
print(json.dumps([[layer.name, layer.held, layer.detail] for layer in doctor.layers()]))
"""


@pytest.fixture(params=PLACES.values(), ids=PLACES.keys())
def clone(request):
    """Yield a copy of the course with an environment that contains only NumPy."""
    folder, prefix, below = request.param
    root = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
    place = root / below
    env = place / ".venv"
    packages = env / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    for name in ("numpy", "numpy.libs"):
        source = Path(sysconfig.get_path("platlib")) / name
        if source.is_dir():
            shutil.copytree(source, packages / name, ignore=shutil.ignore_patterns("tests"))
    shutil.copytree(Path(autograder.__file__).parent, place / "autograder")
    (env / "bin").mkdir()
    (env / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    home = Path(sys.executable).resolve().parent
    (env / "pyvenv.cfg").write_text(f"home = {home}\ninclude-system-site-packages = false\n")
    yield place
    shutil.rmtree(root)


def test_sandbox_is_the_same_wherever_the_clone_is(clone):
    run = [clone / ".venv" / "bin" / "python", "-c", LOOK]
    process = subprocess.run(
        run, cwd=clone, input=SEEKER, capture_output=True, text=True, timeout=300
    )
    assert process.returncode == 0, process.stderr
    layers = json.loads(process.stdout)
    assert len(layers) == 8
    assert [layer for layer in layers if not layer[1]] == []
