"""The figures of an appendix are numbered after its chapter: Fig. A4.1 is in the one to chapter 4.

Sphinx gives a figure the number of its chapter, as in Fig. 4.1. An appendix has no number of its
own, so its figures would be counted on from one appendix to the next: Fig. 10, Fig. 11.
"""

from copy import deepcopy

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

SUFFIX = "_appendix"


def put_back(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Give Sphinx the numbers back that it has made itself: it writes a page again that has others.

    Returns no page to write again.
    """
    env.toc_fignumbers = getattr(env, "course_numbers", {})
    return []


def number_appendices(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Number what Sphinx has numbered on the page `<chapter>_appendix` anew, from 1.

    A page keeps its numbers if no numbered chapter belongs to it. Returns no page to write again.
    """
    env.course_numbers = deepcopy(env.toc_fignumbers)
    for page, of_kind in env.toc_fignumbers.items():
        chapter = env.toc_secnumbers.get(page.removesuffix(SUFFIX), {}).get("")
        if page.endswith(SUFFIX) and chapter:
            for kind, numbers in of_kind.items():
                of_kind[kind] = {
                    one: (f"A{chapter[0]}", place) for place, one in enumerate(numbers, start=1)
                }
    return []


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-get-updated", put_back, priority=100)
    app.connect("env-get-updated", number_appendices, priority=900)  # Sphinx numbers them at 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
