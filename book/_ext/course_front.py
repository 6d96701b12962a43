"""The front page: `parts` shows a card for each part of the book, `begin` shows buttons.

A card has a picture (`book/_web/pictures/part-<number>.svg`), the chapters with their reading
times, and a place for the reader's progress, which `progress.mjs` fills.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assignment_facts import stored_facts
from course_contents import Entry, parts_of
from course_reading import chapters, in_fives, measure
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.util.docutils import SphinxDirective

PICTURES = Path(__file__).parents[1] / "_web" / "pictures"
QUIZ = "```{quiz}"


class parts(nodes.General, nodes.Element):
    """A placeholder for the cards, whose content is known when all pages have been read."""


class Parts(SphinxDirective):
    """The cards of all parts with chapters."""

    def run(self) -> list[nodes.Node]:
        source = Path(self.env.srcdir)
        for chapter in chapters(source / "_toc.yml"):
            self.env.note_dependency(str(source / f"{chapter}.md"))
        return [parts()]


class Begin(SphinxDirective):
    """Buttons, each written as a line `page: words`. The first is filled, the others are quiet."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        links: list[nodes.Node] = []
        for line in self.content:
            page, separator, words = line.partition(": ")
            if not separator:
                raise self.error(f"cannot read {line!r}; write a line of `begin` as `page: words`.")
            quiet = " .quiet" if links else ""
            links.append(f"[{words}]({page}.md){{.button{quiet}}}")
        return [nodes.container("", *self.parse_text_to_nodes("\n".join(links)), classes=["begin"])]


@dataclass(frozen=True)
class Card:
    """A chapter on its part's card. minutes: reading time. quizzes, exercises: their number."""

    entry: Entry
    address: str
    minutes: int
    quizzes: int
    exercises: int


def card(app: Sphinx, builder: StandaloneHTMLBuilder, page: str, entry: Entry) -> Card:
    """Return the facts that the front page shows about a chapter."""
    text = Path(app.env.doc2path(entry.name)).read_text(encoding="utf-8")
    assignment = stored_facts().get(entry.name, {"exercises": (), "written": ()})
    return Card(
        entry,
        builder.get_relative_uri(page, entry.name),
        in_fives(measure(text).minutes),
        text.count(QUIZ),
        len(assignment["exercises"]) + len(assignment["written"]),
    )


def write_parts(app: Sphinx, document: nodes.document, page: str) -> None:
    """Replace the placeholder by the cards; formats other than HTML get nothing there."""
    for placeholder in list(document.findall(parts)):
        if not isinstance(app.builder, StandaloneHTMLBuilder):
            placeholder.parent.remove(placeholder)
            continue
        shown = [part for part in parts_of(app.env) if part.numbered]
        cards_of_parts = [
            {
                "title": part.title,
                "picture": (PICTURES / f"part-{number}.svg").read_text(encoding="utf-8"),
                "cards": [card(app, app.builder, page, entry) for entry in part.entries],
            }
            for number, part in enumerate(shown, start=1)
        ]
        html = app.builder.templates.render("parts.html", {"parts": cards_of_parts})
        placeholder.replace_self(nodes.raw("", html, format="html"))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("parts", Parts)
    app.add_directive("begin", Begin)
    app.add_node(parts)
    app.connect("doctree-resolved", write_parts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
