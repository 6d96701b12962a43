"""What a chapter's code finds in its environment: where results go, and how figures are made.

COURSE_BUILD names the build's folder, for `solutions.reporting`.
COURSE_PROGRESS names a file, for `solutions.progress`. What arrives there is printed at once on the
terminal of the build, so a long training shows its progress there and never in the page.
IPYTHONDIR names a profile of the book's own, so that nobody's personal one changes a page. In it,
figures are SVG: sharp at every size.
"""

import os
import sys
import tempfile
import threading
from pathlib import Path

from sphinx.application import Sphinx

PROFILE = """\
c.InlineBackend.figure_formats = {"svg"}
c.HistoryManager.enabled = False
c.IPKernelApp.log_level = "ERROR"
"""

SECONDS_BETWEEN_LOOKS = 0.3


def relay(path: Path, stop: threading.Event) -> None:
    """Copy what is appended to the file to standard error until `stop` is set."""
    stopped = False
    with path.open(encoding="utf-8") as source:
        while not stopped:
            stopped = stop.wait(SECONDS_BETWEEN_LOOKS)
            text = source.read()
            if text:
                print(text, end="", file=sys.stderr, flush=True)


def open_environment(app: Sphinx) -> None:
    """Set the variables for the kernels of this build, and start to relay."""
    build = Path(app.outdir).parent.resolve()
    os.environ["COURSE_BUILD"] = str(build)
    profile = build / ".ipython" / "profile_default" / "ipython_kernel_config.py"
    profile.parent.mkdir(parents=True, exist_ok=True)
    profile.write_text(PROFILE, encoding="utf-8")
    os.environ["IPYTHONDIR"] = str(build / ".ipython")
    handle, name = tempfile.mkstemp(prefix="course-progress-")
    os.close(handle)
    os.environ["COURSE_PROGRESS"] = name
    stop = threading.Event()
    thread = threading.Thread(target=relay, args=(Path(name), stop), daemon=True)
    thread.start()

    def close(app: Sphinx, exception: Exception | None) -> None:
        stop.set()
        thread.join()
        Path(name).unlink()

    app.connect("build-finished", close)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", open_environment)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
