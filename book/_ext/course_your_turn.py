"""From the paragraph to the exercise, and back.

The help of each exercise names, in curly quotes, the sections of the chapter that teach it. At the
end of the last of them stands a line *Your turn*, which leads to the exercise on its page
`practise/<chapter>`; there, the directive `practise-back` links to all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from assignment_facts import FILE, kept
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
    """Attributes: chapter and exercise. Filled with links when all pages have been read."""


class Back(SphinxDirective):
    """Links from an exercise to the sections that teach it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        chapter = self.env.docname.removeprefix(f"{FOLDER}/")
        back = practise_back(chapter=chapter, exercise=self.arguments[0])
        back["classes"].append("practise-back")
        return [back]


def add_turns(app: Sphinx, document: nodes.document) -> None:
    """Put the lines *Your turn* into a chapter, or its appendix, that was read."""
    page = app.env.docname
    chapter = page.removesuffix("_appendix")
    if chapter not in kept():
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
    """Return the line that leads to exercises."""
    minutes = {one["name"]: one["minutes"] for one in kept()[chapter]["exercises"]}
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

    The one after which a reader can do the exercise comes first: the last in the chapter's own
    order, before the sections on mistakes and those of the appendix.
    """
    pages = [name for name in (chapter, f"{chapter}_appendix") if (folder / f"{name}.md").exists()]
    titles: dict[str, str] = {}
    for page in pages:
        text = FENCE.sub("", (folder / f"{page}.md").read_text(encoding="utf-8"))
        for title in HEADING.findall(text):
            titles.setdefault(title.replace("$", ""), page)
    order = list(titles)

    def first(title: str) -> tuple[bool, bool, int]:
        return titles[title] != chapter, title == MISTAKES, -order.index(title)

    return {
        one["name"]: [
            (titles[title], title)
            for title in sorted((one for one in one["sections"] if one in titles), key=first)
        ]
        for one in kept()[chapter]["exercises"]
    }


class LinkBack(SphinxPostTransform):
    """Fill the links from exercises to sections, before the formulas in them are drawn."""

    default_priority = 100

    def run(self, **kwargs: object) -> None:
        """Fill those of a page; without a section, nothing is left of one."""
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
