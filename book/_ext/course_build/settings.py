"""The settings of a page's kernel. They are the same on every machine, so that its numbers are.

OMP_NUM_THREADS holds the threads that a page may use, however many pages are executed side by side:
a sum over more threads rounds in another order. SAME_EVERYWHERE is there for the same reason. A
page that says how fast the machine is does without it, since it makes the libraries slower.
IPYTHONDIR names a profile of the book's own, so that nobody's personal one changes a page. In it,
figures are SVG, sharp at every size, whose names and dates are the same in every run.
"""

from solutions.running.arithmetic import SETTINGS

THREADS = 2

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
