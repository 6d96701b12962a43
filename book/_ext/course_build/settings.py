"""The settings of a page's kernel: the same on every machine, so that its numbers are the same.

Of the machine's environment, a kernel only gets the variables of INHERITED. These variables are
added:

- OMP_NUM_THREADS limits the threads of a page, since more threads would add numbers in a different
  order and so round differently. SAME_EVERYWHERE has the same purpose. Pages that measure the speed
  of the machine do without it, since it makes the libraries slower.
- IPYTHONDIR names a profile for the book, and MPLCONFIGDIR a folder without settings, so that no
  one's personal settings change a page. The profile makes figures SVG, which is sharp at every
  size, with ids and dates that are the same in every run.
- CUDA_VISIBLE_DEVICES hides graphics cards, which would round differently.
- PYTHONPATH begins with the project's folder, so that a page imports the code that its record
  names, even if another copy of the course is installed.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from solutions.running.arithmetic import SETTINGS

THREADS = 2

INHERITED = (
    *("PATH", "LD_LIBRARY_PATH", "HOME", "TMPDIR", "LANG", "LC_ALL"),
    *("COURSE_MINILM", "COURSE_SMOLLM2"),
)
"""The variables that a kernel inherits; the last two name folders of published weights."""

FORMAT = 2
"""A version number: increase it when pages are executed, or their outputs written, differently."""

PROFILE = """\
c.InlineBackend.figure_formats = {"svg"}
c.InlineBackend.print_figure_kwargs = {"bbox_inches": "tight", "metadata": {"Date": None}}
c.InlineBackend.rc = {"svg.hashsalt": "course"}
c.HistoryManager.enabled = False
c.IPKernelApp.log_level = "ERROR"
c.IPKernelApp.exec_lines = [
    "from solutions.running.claims import explain_failures",
    "explain_failures(get_ipython())",
    "del explain_failures",
]
"""


def arithmetic(own_instructions: bool) -> dict[str, str]:
    """Return the settings of a page's arithmetic; none if it uses the machine's own instructions.

    The result is the same on every machine, even if the settings change nothing there.
    """
    return {} if own_instructions else dict(SETTINGS)


def first_on_the_path(root: Path) -> str:
    """Return the PYTHONPATH with which the project in `root` imports its own code."""
    return os.pathsep.join(filter(None, (str(root.resolve()), os.environ.get("PYTHONPATH"))))


def environment(build: Path, root: Path) -> Mapping[str, str]:
    """Return the environment of the kernels of all pages. build: the folder of the build."""
    profile = build / ".ipython" / "profile_default" / "ipython_kernel_config.py"
    profile.parent.mkdir(parents=True, exist_ok=True)
    profile.write_text(PROFILE, encoding="utf-8")
    drawing = build / ".matplotlib"
    drawing.mkdir(exist_ok=True)
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return inherited | {
        "PYTHONPATH": first_on_the_path(root),
        "IPYTHONDIR": str(profile.parents[1].resolve()),
        "MPLCONFIGDIR": str(drawing.resolve()),
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": str(THREADS),
    }
