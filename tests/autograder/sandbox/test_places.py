"""The sandbox shows the same wherever the course's environment and clone lie, and no name of it."""

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
"""Where a clone lies: a folder of this machine, how one made in it is called, folders in that."""

SEEKER = (Path(__file__).parents[2] / "hostile" / "other_students" / "softmax.py").read_text()

LOOK = """
import json, sys
from autograder.sandbox import doctor
from autograder.probe.supervisor import COLD, WARM
doctor.KINDS = (WARM, COLD)
wanted = ("files of this machine", "private folders")
doctor.ATTEMPTS = [one for one in doctor.ATTEMPTS if one.name in wanted]
seeker = sys.stdin.read() + "\\nfound = look()\\nassert not found, found\\nreturn False\\n"
doctor.ATTEMPTS.append(doctor.Attempt("names of folders", "looks for them", seeker))
print(json.dumps([[one.name, one.held, one.detail] for one in doctor.layers()]))
"""


@pytest.fixture(params=PLACES.values(), ids=PLACES.keys())
def clone(request):
    """A copy of the course with an environment in it that has NumPy and nothing else."""
    folder, prefix, below = request.param
    made = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
    place = made / below
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
    shutil.rmtree(made)


def test_the_sandbox_is_the_same_wherever_the_clone_lies(clone):
    run = [clone / ".venv" / "bin" / "python", "-c", LOOK]
    done = subprocess.run(run, cwd=clone, input=SEEKER, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    layers = json.loads(done.stdout)
    assert len(layers) == 8
    assert [layer for layer in layers if not layer[1]] == []
