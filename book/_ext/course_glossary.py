"""The glossary: each term with what the chapter that defines it says, and a link to the place.

    ```{glossary-of-terms}
    softmax: self_attention
    KV cache | key-value cache: gpt_and_bert
    teacher forcing: context_bottleneck: In training … That is
    GPU | graphics card = A graphics processor. See {doc}`cost`.
    ```

A line names a term, other names of it, and the page on which one of these names stands in bold, or
is the title of a section. The definition is the sentence around the first such place, so nothing is
written twice. Where that sentence does not stand by itself, the line gives the first words of each
sentence of that section that the definition is made of, in their order, with an ellipsis between.
A term that no chapter defines has a definition of its own, after `=`.

A page or a name that is not found, words that begin no sentence, or a definition that is too long
or holds a number of a run, is a warning. The search leads from each name to the place
(`course_search.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from course_contents import parts_of
from docutils import nodes
from page_words import said
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

PAGE = "glossary"
MOST_WORDS = 4
"""The length of a term. A longer text in bold is a claim."""
MOST_CHARACTERS = 420
"""The length of a definition."""
LINE = re.compile(r"(?P<names>[^:=]+?)(?:: (?P<page>\w+)(?:: (?P<words>.+))?| = (?P<text>.+))")
SENTENCE = re.compile(r"(?<=[.?!])\s+|(?<=[.?!][)\u201d])\s+")
KEPT = (nodes.Text, nodes.emphasis, nodes.literal, nodes.math)
WRITTEN = (nodes.strong, nodes.inline, nodes.reference)

logger = logging.getLogger(__name__)


@dataclass
class Defined:
    """A term in bold on a page.

    section: the anchor of its section, "" for the page's beginning. place: the anchor of the
    paragraph. sentences: those of the section; `at` is the place among them of the term's own, -1
    for the title of the section.
    """

    term: str
    section: str
    place: str
    sentences: list[list[nodes.Node]]
    at: int


@dataclass
class Term:
    """A line of the glossary. page and words, or text, are empty."""

    names: list[str]
    line: int
    page: str = ""
    words: str = ""
    text: list[nodes.Node] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """The anchor of the term in the glossary, and of its paragraph on its page."""
        return anchor(self.names[0])


class glossary_of_terms(nodes.General, nodes.Element):
    """The place of the list of terms."""


class Glossary(SphinxDirective):
    """The list of terms. See the module for how it is written."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        found: list[Term] = []
        for number, line in enumerate(self.content):
            at = self.lineno + self.content_offset + number + 1
            match = LINE.fullmatch(line)
            if not match:
                warn(at, f"{line!r} is no term; write `name | other name: page`")
                continue
            names = [name.strip() for name in match["names"].split("|")]
            text = self.state.inline_text(match["text"], at)[0] if match["text"] else []
            found.append(Term(names, at, match["page"] or "", match["words"] or "", text))
        self.env.course_terms = sorted(found, key=lambda one: one.names[0].lower())
        return [glossary_of_terms()]


def anchor(name: str) -> str:
    """Return the anchor of a term."""
    return "term-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def plain(name: str) -> str:
    """Return a name without its case, and without a mark at its end."""
    return name.strip(" ,.:;?").lower()


def terms_in(node: nodes.Element) -> list[str]:
    """Return the few words in bold of a line, as they are."""
    bold = (said(one).strip(" ,.:;?") for one in node.findall(nodes.strong))
    return [one for one in bold if one and len(one.split()) <= MOST_WORDS]


def note_terms(app: Sphinx, document: nodes.document) -> None:
    """Keep what a page that was read says in bold, and give the paragraphs their anchors."""
    definitions(app.env)[app.env.docname] = found = {}
    for section in document.findall(nodes.section):
        home = "" if isinstance(section.parent, nodes.document) else section["ids"][0]
        sentences: list[list[nodes.Node]] = []
        if home:
            title = said(section[0])
            found.setdefault(plain(title), Defined(title, home, home, sentences, -1))
        for paragraph in own_paragraphs(section):
            for sentence in sentences_of(paragraph):
                sentences.append([one for node in sentence for one in as_kept(node)])
                for term in (term for node in sentence for term in bold(node)):
                    name = plain(term)
                    if name not in found or found[name].at < 0:
                        paragraph["ids"].append(anchor(name))
                        place = Defined(term, home, anchor(name), sentences, len(sentences) - 1)
                        found[name] = place


def own_paragraphs(section: nodes.section) -> Iterator[nodes.paragraph]:
    """Yield the paragraphs of a section, without those of the sections in it."""
    for paragraph in section.findall(nodes.paragraph):
        above = paragraph.parent
        while not isinstance(above, nodes.section):
            above = above.parent
        if above is section:
            yield paragraph


def bold(node: nodes.Node) -> list[str]:
    """Return the terms in a node of a sentence."""
    if isinstance(node, nodes.strong):
        return terms_in(nodes.paragraph("", "", node.deepcopy()))
    return []


def sentences_of(paragraph: nodes.paragraph) -> Iterator[list[nodes.Node]]:
    """Yield the nodes of each sentence of a paragraph."""
    sentence: list[nodes.Node] = []
    for child in joined(paragraph.children):
        pieces = [child]
        if isinstance(child, nodes.Text):
            pieces = [nodes.Text(piece) for piece in SENTENCE.split(child.astext())]
        for number, piece in enumerate(pieces):
            if number:
                yield sentence
                sentence = []
            sentence.append(piece)
        if isinstance(child, nodes.strong) and child.astext().endswith((".", "?", "!")):
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def as_kept(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yield what the glossary shows of a node of a sentence; nothing of a citation."""
    if isinstance(node, KEPT):
        yield node.deepcopy()
    elif isinstance(node, WRITTEN):
        yield nodes.Text(said(node))
    elif isinstance(node, pending_xref) and node.get("refexplicit"):
        yield nodes.Text(node.astext())
    elif node.get("refdomain") != "cite":
        yield node.deepcopy()


def definitions(env: BuildEnvironment) -> dict[str, dict[str, Defined]]:
    """Return what each page says in bold, by its name."""
    if not hasattr(env, "course_definitions"):
        env.course_definitions = {}
    return env.course_definitions


def terms(env: BuildEnvironment) -> list[Term]:
    """Return the lines of the glossary; none in a book without one."""
    return getattr(env, "course_terms", []) if PAGE in env.found_docs else []


def place_of(env: BuildEnvironment, term: Term) -> Defined | None:
    """Return where a term is defined; None if its page has none of its names in bold."""
    there = definitions(env).get(term.page, {})
    found = [there[plain(name)] for name in term.names if plain(name) in there]
    return next((one for one in found if one.at >= 0), found[0] if found else None)


class FillGlossary(SphinxPostTransform):
    """Put the list of terms into its place."""

    default_priority = 5  # before formulas are drawn and references resolved

    def run(self, **kwargs: object) -> None:
        for holder in list(self.document.findall(glossary_of_terms)):
            items = [self.item(term) for term in terms(self.env)]
            found = nodes.definition_list("", *(item for item in items if item is not None))
            holder.replace_self(nodes.container("", found, classes=["glossary"]))

    def item(self, term: Term) -> nodes.definition_list_item | None:
        """Return a term with its definition; None, and a warning, if there is a fault."""
        name, *others = term.names
        head = nodes.term("", name, ids=[term.anchor])
        if others:
            head += nodes.inline("", f" also {', '.join(others)}", classes=["glossary-also"])
        if not term.page:
            body = nodes.paragraph("", "", *(one.deepcopy() for one in term.text))
            return nodes.definition_list_item("", head, nodes.definition("", body))
        where = place_of(self.env, term)
        if where is None:
            warn(term.line, f"no {' or '.join(map(repr, term.names))} in bold on {term.page!r}")
            return None
        body = self.definition(term, where)
        if body is None:
            return None
        link = nodes.reference("", self.titled(term, where), internal=True)
        link["refuri"] = f"{self.app.builder.get_relative_uri(PAGE, term.page)}#{where.place}"
        body += [nodes.Text(" "), nodes.inline("", "", link, classes=["glossary-where"])]
        return nodes.definition_list_item("", head, nodes.definition("", body))

    def definition(self, term: Term, where: Defined) -> nodes.paragraph | None:
        """Return the sentences that define a term."""
        chosen = [where.at]
        if term.words:
            starts = [said(nodes.inline("", "", *copied(one))) for one in where.sentences]
            chosen = []
            for words in term.words.split("…"):
                begin, after = words.strip(), chosen[-1] + 1 if chosen else 0
                found = [at for at in range(after, len(starts)) if starts[at].startswith(begin)]
                if not found:
                    return warn(term.line, f"no sentence of the section begins with {begin!r}")
                chosen.append(found[0])
        if chosen[0] < 0:
            return warn(term.line, "a title is no definition; say with which words it begins")
        body = nodes.paragraph()
        for at in chosen:
            body += [*([nodes.Text(" ")] if len(body) else []), *tidied(where.sentences[at])]
        if any(not isinstance(one, KEPT) for one in body.children):
            return warn(term.line, f"the definition of {term.names[0]!r} holds more than text")
        if len(body.astext()) > MOST_CHARACTERS:
            return warn(
                term.line,
                f"the definition of {term.names[0]!r} has {len(body.astext())} characters; "
                f"{MOST_CHARACTERS} are the most",
            )
        return body

    def titled(self, term: Term, where: Defined) -> str:
        """Return the name of the page on which a term is defined."""
        for part in parts_of(self.env):
            for entry in part.entries:
                if entry.name == term.page:
                    return f"Chapter {entry.number}" if entry.number else entry.title
                if term.page in (below.name for below in entry.below):
                    return f"Appendix {entry.number}" if entry.number else entry.title
        return term.page


def joined(texts: Iterable[nodes.Node]) -> list[nodes.Node]:
    """Return the same nodes, with texts that follow each other as one."""
    found: list[nodes.Node] = []
    for one in texts:
        if isinstance(one, nodes.Text) and found and isinstance(found[-1], nodes.Text):
            found.append(nodes.Text(f"{found.pop()}{one}"))
        else:
            found.append(one)
    return found


def copied(sentence: list[nodes.Node]) -> list[nodes.Node]:
    """Return a copy of the nodes of a sentence."""
    return [one.deepcopy() for one in sentence]


def tidied(sentence: list[nodes.Node]) -> list[nodes.Node]:
    """Return a sentence that ends in a full stop, without what a citation has left in it."""
    whole = joined(copied(sentence))
    if isinstance(whole[0], nodes.Text):
        whole[0] = nodes.Text(whole[0].lstrip())
    cleaned = [
        nodes.Text(re.sub(r"\s+(?=[\s.,;:])", "", one)) if isinstance(one, nodes.Text) else one
        for one in whole
    ]
    if isinstance(cleaned[-1], nodes.Text):
        cleaned[-1] = nodes.Text(re.sub(r"(?<![.?!])[:;,]?\Z", ".", cleaned[-1].rstrip(), count=1))
    else:
        cleaned.append(nodes.Text("."))
    return cleaned


def warn(line: int, problem: str) -> None:
    logger.warning("glossary: %s", problem, location=(PAGE, line))


def forget(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    """Forget what a page that is read anew, or has gone, says in bold."""
    definitions(env).pop(page, None)


def write_again(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the glossary: what it shows stands on pages that may have changed."""
    return [PAGE] if PAGE in env.found_docs else []


def setup(app: Sphinx) -> dict[str, object]:
    app.add_directive("glossary-of-terms", Glossary)
    app.add_node(glossary_of_terms)
    app.add_post_transform(FillGlossary)
    app.connect("doctree-read", note_terms)
    app.connect("env-purge-doc", forget)
    app.connect("env-updated", write_again)
    return {"parallel_read_safe": False, "parallel_write_safe": True, "env_version": 1}
