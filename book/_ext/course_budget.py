"""Warn at the end of a build when a chapter takes longer to execute than it may."""

from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


def check_runtimes(app: Sphinx, exception: Exception | None) -> None:
    """Compare each chapter's seconds with the limit of one cell, which is the chapter's as well.

    The seconds of a chapter that came from the execution cache are those of the run that filled it.
    """
    if exception is not None:
        return
    limit = app.config.nb_execution_timeout
    for name in sorted(app.env.found_docs):
        data = NbMetadataCollector.get_exec_data(app.env, name)
        seconds = data and data["runtime"]
        if seconds and seconds > limit:
            logger.warning(
                "the chapter took %.0f s to execute; at most %d s are allowed",
                seconds,
                limit,
                location=(name, None),
            )


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", check_runtimes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
