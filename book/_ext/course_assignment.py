"""The `assignment` directive: a box that lists a chapter's exercises, and offers them for download.

    ```{assignment} self_attention
    ```

The archive is made by `make releases` at `_build/assignments/<chapter>.zip`, beside the site's own
folder. Sphinx copies it into the site. Without the archive the build warns, and so fails under -W.
What each exercise is called and asks for is read from the notebook in the archive.
"""

import json
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

MAKE_TARGET = "make releases"
TASK = re.compile(
    r"### Your turn: `(?P<name>\w+)`\s+\*\*(?P<points>\d+ points?)\*\*, "
    r"(?P<effort>difficulty \d of 5, about \d+ minutes)\.\s+\*\*(?P<kind>\w+)\.\*\*"
)
"""How the cell above an exercise begins."""

logger = logging.getLogger(__name__)


class Assignment(SphinxDirective):
    """A box with the link to `<chapter>.zip`; a body, if there is one, stands below the link."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        box = nodes.admonition(classes=["assignment"])
        self.set_source_info(box)
        box += nodes.title("Assignment", "Assignment")
        archive = Path(self.env.app.outdir).parent / "assignments" / f"{name}.zip"
        # A page that named a missing file is read again by the next build.
        self.env.note_dependency(str(archive))
        if archive.is_file():
            box += self._link(name, archive)
            box += nodes.bullet_list("", *self._exercises(name, archive))
        else:
            logger.warning(
                "no archive for the assignment %r: %s is not there. Type `%s`, then build again.",
                name,
                archive.relative_to(archive.parents[2]),
                MAKE_TARGET,
                location=self.get_location(),
            )
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]

    def _exercises(self, name: str, archive: Path) -> Iterator[nodes.list_item]:
        """A line for each exercise: its name, its kind, and what it takes."""
        with zipfile.ZipFile(archive) as opened:
            notebook = json.loads(opened.read(f"{name}/{name}.ipynb"))
        for cell in notebook["cells"]:
            task = TASK.match("".join(cell["source"]))
            if task:
                text = f": {task['kind'].lower()}, {task['points']}, {task['effort']}"
                literal = nodes.literal("", task["name"])
                yield nodes.list_item("", nodes.paragraph("", "", literal, nodes.Text(text)))

    def _link(self, name: str, archive: Path) -> nodes.paragraph:
        text = f"Download {name}.zip"
        target = "/" + Path(os.path.relpath(archive, self.env.srcdir)).as_posix()
        link = addnodes.download_reference("", text, reftarget=target, refdoc=self.env.docname)
        kilobytes = max(1, round(archive.stat().st_size / 1000))
        inside = "the notebook, its public cases and the self-check"
        size = nodes.inline("", f" ({kilobytes} kB: {inside})")
        return nodes.paragraph("", "", link, size, classes=["assignment-download"])


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("assignment", Assignment)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
