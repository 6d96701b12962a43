"""The sandbox's private folders are the same wherever the course's environment and clone lie."""

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
PLACES = [("/tmp", "clone"), ("/dev/shm", "clone"), ("/var/tmp", "clone"), (HOME, "a clone ")]

LOOK = """
import json
from autograder.sandbox import doctor
from autograder.sandbox.untrusted.supervisor import COLD, WARM
doctor.KINDS = (WARM, COLD)
wanted = ("files of this machine", "private folders")
doctor.ATTEMPTS = [one for one in doctor.ATTEMPTS if one.name in wanted]
print(json.dumps([[one.name, one.held, one.detail] for one in doctor.layers()]))
"""


@pytest.fixture(params=PLACES, ids=["tmp", "shared memory", "var tmp", "home with a blank"])
def clone(request):
    """A copy of the course with an environment in it that has NumPy and nothing else."""
    folder, prefix = request.param
    place = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
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
    shutil.rmtree(place)


def test_folders_are_private_wherever_the_clone_lies(clone):
    run = [clone / ".venv" / "bin" / "python", "-c", LOOK]
    done = subprocess.run(run, cwd=clone, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    layers = json.loads(done.stdout)
    assert len(layers) == 6
    assert [layer for layer in layers if not layer[1]] == []
