"""Say at the end of a build which chapters took longer to execute than they may.

The budget is for two cores with nothing else to do. A busy machine, or one that is half as fast, is
no fault of a chapter. So a chapter over its budget is named; one over FAR times its budget is a
warning, which ends the build.
"""

from course_build.events import announce
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

FAR = 4


def check_runtimes(app: Sphinx, exception: Exception | None) -> None:
    """Compare each chapter's seconds with the budget.

    The seconds of a chapter that came from the execution cache are those of the run that filled it.
    """
    if exception is not None:
        return
    budget = app.config.course_budget
    for name in sorted(app.env.found_docs):
        data = NbMetadataCollector.get_exec_data(app.env, name)
        seconds = data and data["runtime"]
        if seconds and seconds > budget:
            text = (
                f"the chapter took {seconds:.0f} s to execute; "
                f"on two idle cores, {budget} s are allowed"
            )
            say = logger.warning if seconds > FAR * budget else logger.info
            say(text, location=(name, None))
            announce("note", text=f"{name}: {text}")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("course_budget", 180, "")
    app.connect("build-finished", check_runtimes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
