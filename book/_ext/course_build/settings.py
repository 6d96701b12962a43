"""The settings of a page's kernel. They are the same on every machine, so that its numbers are.

OMP_NUM_THREADS holds the threads that a page may use, however many pages are executed side by side:
a sum over more threads rounds in another order. SAME_EVERYWHERE is there for the same reason. A
page that says how fast the machine is does without it, since it makes the libraries slower.
IPYTHONDIR names a profile of the book's own, and MPLCONFIGDIR an empty folder, so that nobody's
personal settings change a page. In the profile, figures are SVG, sharp at every size, whose names
and dates are the same in every run. CUDA_VISIBLE_DEVICES names no graphics card, which would round
otherwise. PYTHONPATH begins with the project's folder: the code that a page imports is that which
its record names, also where another copy of the course is installed.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from solutions.running.arithmetic import SETTINGS

THREADS = 2

FORMAT = 2
"""Another number when pages are executed, or what they show is written, in another way."""

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
    """Return the settings of a page's arithmetic; none for one with the machine's own.

    They are named on every machine, also where they change nothing.
    """
    return {} if own_instructions else dict(SETTINGS)


def environment(build: Path, root: Path) -> Mapping[str, str]:
    """Return the environment of every page's kernel. build: the folder of the build."""
    profile = build / ".ipython" / "profile_default" / "ipython_kernel_config.py"
    profile.parent.mkdir(parents=True, exist_ok=True)
    profile.write_text(PROFILE, encoding="utf-8")
    drawing = build / ".matplotlib"
    drawing.mkdir(exist_ok=True)
    paths = filter(None, (str(root.resolve()), os.environ.get("PYTHONPATH")))
    inherited = {name: value for name, value in os.environ.items() if name != "MATPLOTLIBRC"}
    return inherited | {
        "PYTHONPATH": os.pathsep.join(paths),
        "IPYTHONDIR": str(profile.parents[1].resolve()),
        "MPLCONFIGDIR": str(drawing.resolve()),
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": str(THREADS),
    }
