"""The `assignment` directive: a box that lists a chapter's exercises, and offers them for download.

    ```{assignment} self_attention
    ```

What the exercises are is read from `book/assignments.json`. Their archives are made by
`make releases`, which needs more than a site does. So the box links them only where the build says
that they will lie in the site's folder `assignments/`; elsewhere it says how to get the assignment.
Either way it leads to the page that says how one is fetched and handed in.
"""

import os
from collections.abc import Iterator

from assignment_facts import kept
from course_practise import has_editors, note_dependencies
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ENVIRONMENT = "COURSE_ARCHIVES"
FOLDER = "assignments"
HOW = "{doc}`How to fetch and hand in </howto_student>`."


class Assignment(SphinxDirective):
    """A box with the link to `<chapter>.zip`; a body, if there is one, stands below the list."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in kept():
            raise self.error(f"no assignment {name!r}; there are: {', '.join(kept())}.")
        box = nodes.admonition(classes=["assignment"])
        self.set_source_info(box)
        box += nodes.title("Assignment", "Assignment")
        box += self._here(name)
        box += self._link(name) if self.config.course_archives == "linked" else self._way(name)
        box[-1].extend([nodes.Text(". "), *self.parse_inline(HOW)[0]])
        box += nodes.bullet_list("", *self._exercises(name))
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]

    def _exercises(self, name: str) -> Iterator[nodes.list_item]:
        """A line for each exercise: its name, its kind, and what it takes."""
        for one in kept()[name]["exercises"]:
            text = (
                f": {one['kind']}, {_points(one['points'])}, "
                f"difficulty {one['difficulty']} of 5, about {one['minutes']} minutes"
            )
            yield _item(nodes.literal("", one["name"]), nodes.Text(text))
        for one in kept()[name]["written"]:
            text = f"a written question: {_points(one['points'])}, about {one['minutes']} minutes"
            yield _item(nodes.Text(text))

    def _here(self, name: str) -> list[nodes.Node]:
        """The way to the exercises' own page, where there is one and this is not it."""
        page = f"practise/{name}"
        if page not in self.env.found_docs or self.env.docname == page:
            return []
        note_dependencies(self.env.app, name)
        words = "[Do the exercises](/practise/%s.md): here, with nothing installed."
        if not has_editors(self.env.app, name):
            words = "[Read the exercises](/practise/%s.md), one after another."
        (line,) = self.parse_text_to_nodes(words % name)
        line["classes"].append("assignment-download")
        return [line]

    def _link(self, name: str) -> nodes.paragraph:
        up = "../" * self.env.docname.count("/")
        link = nodes.reference("", f"Download {name}.zip", refuri=f"{up}{FOLDER}/{name}.zip")
        inside = nodes.Text(": the notebook, its public cases and the self-check")
        return nodes.paragraph("", "", link, inside, classes=["assignment-download"])

    def _way(self, name: str) -> nodes.paragraph:
        before = nodes.Text(
            "This copy of the site offers no downloads. A copy of the course opens it: "
        )
        command = nodes.literal("", f"make practise CHAPTER={name}")
        return nodes.paragraph("", "", before, command, classes=["assignment-download"])


def _item(*parts: nodes.Node) -> nodes.list_item:
    return nodes.list_item("", nodes.paragraph("", "", *parts))


def _points(number: int) -> str:
    return f"{number} point{'s' * (number != 1)}"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("course_archives", os.environ.get(ENVIRONMENT, "none"), "env")
    app.add_directive("assignment", Assignment)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
