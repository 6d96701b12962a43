"""How the book is built: chapters are executed once, side by side, and only those that must be.

Before Sphinx reads the pages, this extension executes every chapter whose cells, imported code or
read results have changed (`imports`, `chapters`), each in a kernel of its own (`kernels`), as many
at once as there are cores for (`schedule`), into the cache from which MyST-NB renders (`records`).
So MyST-NB itself never executes a page.

Three lists in `_config.yml` say which pages differ. Those of `course_alone` make claims about
time: nothing else runs meanwhile. Those of `course_own_instructions` say how fast the machine is,
and compute as fast as it can (`kernels`). Those of `course_beside` make no such claims and name no
time: one of them at a time is executed on what the chapters leave of the cores.

`python -m book._ext.course_build` builds the whole book with one line of progress (`line`).
"""

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from .chapters import find_chapters
from .events import announce
from .kernels import Kernels
from .records import Records
from .schedule import Schedule


def execute_chapters(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Execute what is out of date; return the names of the pages that must be read again.

    Raises ExtensionError if a chapter failed.
    """
    config = env.mystnb_config
    if config.execution_mode != "cache":
        return []
    build = Path(app.outdir).parent.resolve()
    chapters = find_chapters(env, build)
    records, kernels = Records(config.execution_cache_path), Kernels(build, config)
    schedule = Schedule(chapters, Path(app.srcdir).parent, records, kernels)
    schedule.run()
    read: dict[str, str] = getattr(env, "course_digests", {})
    env.course_digests = schedule.digests
    changed_digests = {n for n, digest in schedule.digests.items() if read.get(n) != digest}
    announce("pages")
    return sorted(schedule.executed | changed_digests)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("course_alone", (), "", list)
    app.add_config_value("course_beside", (), "", list)
    app.add_config_value("course_own_instructions", (), "", list)
    app.connect("env-get-outdated", execute_chapters)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
