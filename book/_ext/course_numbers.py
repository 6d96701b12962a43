"""Number the figures of an appendix after its chapter: Fig. A4.1 is in the appendix to chapter 4.

Sphinx numbers a figure after its chapter, as in Fig. 4.1. An appendix has no number, so Sphinx
would continue the count from one appendix to the next: Fig. 10, Fig. 11. Neither has the second
page of a chapter, `<chapter>_<word>`; its figures go on where those of the first page end.
"""

from copy import deepcopy
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

SUFFIX = "_appendix"


def put_back(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Restore Sphinx's own numbers, since it writes a page again if its numbers have changed.

    Returns no page to write again.
    """
    env.toc_fignumbers = getattr(env, "course_numbers", {})
    return []


def number_appendices(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Renumber the figures, tables and other numbered items of appendices and second pages.

    A page keeps its numbers if it belongs to no numbered chapter. Returns no page to write again.
    """
    vars(env)["course_numbers"] = deepcopy(env.toc_fignumbers)
    shown: dict[str, dict[str, dict[str, Any]]] = vars(env)["toc_fignumbers"]
    for page, of_kind in shown.items():
        first = page.rpartition("_")[0]
        chapter = env.toc_secnumbers.get(first, {}).get("")
        if not chapter or env.toc_secnumbers.get(page, {}).get(""):
            continue
        appendix = page.endswith(SUFFIX)
        number = f"A{chapter[0]}" if appendix else chapter[0]
        for kind, numbers in of_kind.items():
            before = 0 if appendix else len(shown.get(first, {}).get(kind, {}))
            of_kind[kind] = {
                anchor: (number, count) for count, anchor in enumerate(numbers, start=before + 1)
            }
    return []


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-get-updated", put_back, priority=100)
    app.connect("env-get-updated", number_appendices, priority=900)  # Sphinx numbers them at 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
