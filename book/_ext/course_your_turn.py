"""Links between the sections of a chapter and its exercises, in both directions.

The help of each exercise names, in curly quotes, the sections of the chapter that teach it. The
last of these sections ends in a line *Your turn* with a link to the exercise on its page
`practise/<chapter>`. There, the directive `practise-back` links to all of these sections.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from assignment_facts import APPENDIX, FILE, chapter_of, pages_of, stored_facts
from course_practise import FOLDER, anchor
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

HEADING = re.compile(r"^##+ (.+)$", re.MULTILINE)
MISTAKES = "Where people go wrong"
FENCE = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)


class practise_back(nodes.paragraph):
    """A line of links, filled when all pages have been read. Attributes: chapter, exercise."""


class Back(SphinxDirective):
    """Links from an exercise to the sections that teach it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        chapter = self.env.docname.removeprefix(f"{FOLDER}/")
        back = practise_back(chapter=chapter, exercise=self.arguments[0])
        back["classes"].append("practise-back")
        return [back]


def add_turns(app: Sphinx, document: nodes.document) -> None:
    """Put the lines *Your turn* into a chapter or appendix that was read."""
    page = app.env.docname
    chapter = chapter_of(page)
    if chapter not in stored_facts():
        return
    app.env.note_dependency(str(FILE))
    turns: dict[str, list[str]] = {}
    for exercise, places in places_of(chapter, Path(app.srcdir)).items():
        if places and places[0][0] == page:
            turns.setdefault(places[0][1], []).append(exercise)
    for section in document.findall(nodes.section):
        exercises = turns.pop(section.next_node(nodes.title).astext(), [])
        if exercises:
            inner = (at for at, child in enumerate(section) if isinstance(child, nodes.section))
            section.insert(next(inner, len(section)), turn(chapter, exercises))


def turn(chapter: str, exercises: list[str]) -> nodes.paragraph:
    """Return the line with links to some exercises."""
    facts = stored_facts()[chapter]["exercises"]
    minutes = {exercise["name"]: exercise["minutes"] for exercise in facts}
    line = nodes.paragraph("", "", nodes.strong("", "Your turn:"), classes=["your-turn"])
    for at, exercise in enumerate(exercises):
        uri = f"{FOLDER}/{chapter}.html#{anchor(exercise)}"
        line += nodes.Text(", " if at else " ")
        line += nodes.reference("", "", nodes.literal("", exercise), refuri=uri)
        line += nodes.Text(f" ({minutes[exercise]} minutes)")
    return line


@cache
def places_of(chapter: str, folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the sections that teach each exercise of a chapter, as (page, title).

    The section after which a reader can do the exercise comes first: the last one in the chapter's
    order, then the other sections of the chapter, its section on mistakes, and the appendix.
    """
    pages = pages_of(chapter, folder)
    titles: dict[str, str] = {}
    for page in pages:
        text = FENCE.sub("", (folder / f"{page}.md").read_text(encoding="utf-8"))
        for title in HEADING.findall(text):
            titles.setdefault(title.replace("$", ""), page)
    order = list(titles)

    def rank(title: str) -> tuple[bool, bool, int]:
        return titles[title].endswith(APPENDIX), title == MISTAKES, -order.index(title)

    return {
        exercise["name"]: [
            (titles[title], title)
            for title in sorted((name for name in exercise["sections"] if name in titles), key=rank)
        ]
        for exercise in stored_facts()[chapter]["exercises"]
    }


class LinkBack(SphinxPostTransform):
    """Fill the links from exercises to sections, before the formulas in them are drawn."""

    default_priority = 100

    def run(self, **kwargs: object) -> None:
        """Fill the lines of a page; remove a line that has no section to link to."""
        for node in list(self.document.findall(practise_back)):
            places = places_of(node["chapter"], Path(self.app.srcdir))[node["exercise"]]
            links = list(links_to(self.app, self.env.docname, places))
            if not links:
                node.parent.remove(node)
                continue
            node += nodes.Text("Taught in ")
            for at, link in enumerate(links):
                node += [nodes.Text(", "), link] if at else [link]


def links_to(app: Sphinx, page: str, places: list[tuple[str, str]]) -> Iterator[nodes.reference]:
    """Yield a link to each of these sections."""
    for name, title in places:
        for section in app.env.get_doctree(name).findall(nodes.section):
            heading = section.next_node(nodes.title)
            if heading.astext() == title:
                uri = f"{app.builder.get_relative_uri(page, name)}#{section['ids'][0]}"
                yield nodes.reference("", "", *heading.deepcopy().children, refuri=uri)
                break


def visit_back(self: HTML5Translator, node: practise_back) -> None:
    self.visit_paragraph(node)


def depart_back(self: HTML5Translator, node: practise_back) -> None:
    self.depart_paragraph(node)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("practise-back", Back)
    app.add_node(practise_back, html=(visit_back, depart_back))
    app.connect("doctree-read", add_turns)
    app.add_post_transform(LinkBack)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
