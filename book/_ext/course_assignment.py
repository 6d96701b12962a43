"""The `assignment` directive: a box that lists a chapter's exercises, and offers them for download.

    ```{assignment} self_attention
    ```

The list of exercises comes from `book/assignments.json`. `make releases` writes their archives, and
needs more packages than a site does. So the box only links to them if the build promises to put
them into the site's folder `assignments/`; otherwise it says how to get the assignment. In both
cases it links to the page on how to fetch and hand in an assignment.
"""

import os
from collections.abc import Iterator

from assignment_facts import stored_facts
from course_practise import has_editors, note_dependencies
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ENVIRONMENT = "COURSE_ARCHIVES"
FOLDER = "assignments"
HOW = "{doc}`How to fetch and hand in </howto_student>`."


class Assignment(SphinxDirective):
    """A box with the link to `<chapter>.zip`; the optional body comes below the list."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in stored_facts():
            raise self.error(f"no assignment {name!r}; there are: {', '.join(stored_facts())}.")
        box = nodes.admonition(classes=["assignment"])
        self.set_source_info(box)
        box += nodes.title("Assignment", "Assignment")
        box += self._link_to_page(name)
        box += (
            self._download(name) if self.config.course_archives == "linked" else self._command(name)
        )
        box[-1].extend([nodes.Text(". "), *self.parse_inline(HOW)[0]])
        box += nodes.bullet_list("", *self._exercises(name))
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]

    def _exercises(self, name: str) -> Iterator[nodes.list_item]:
        """Yield a line for each exercise: its name, kind, points, difficulty and minutes."""
        for exercise in stored_facts()[name]["exercises"]:
            text = (
                f": {exercise['kind']}, {_points(exercise['points'])}, "
                f"difficulty {exercise['difficulty']} of 5, about {exercise['minutes']} minutes"
            )
            yield _item(nodes.literal("", exercise["name"]), nodes.Text(text))
        for question in stored_facts()[name]["written"]:
            points, minutes = _points(question["points"]), question["minutes"]
            text = f"a written question: {points}, about {minutes} minutes"
            yield _item(nodes.Text(text))

    def _link_to_page(self, name: str) -> list[nodes.Node]:
        """Return a line with a link to the page of the exercises; none if this is that page."""
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

    def _download(self, name: str) -> nodes.paragraph:
        up = "../" * self.env.docname.count("/")
        link = nodes.reference("", f"Download {name}.zip", refuri=f"{up}{FOLDER}/{name}.zip")
        inside = nodes.Text(": the notebook, its public cases and the self-check")
        return nodes.paragraph("", "", link, inside, classes=["assignment-download"])

    def _command(self, name: str) -> nodes.paragraph:
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
