"""The book's own text, paragraph by paragraph, without code and markup.

Models are trained on it, and a model answers questions about it. They read a copy, so that no model
must be trained again whenever a sentence changes. The copy in `book_text/` has a file for each
page, with a paragraph on each line. Paragraphs of a caption, a prediction or a quiz begin with ">".
`python -m solutions.data.book_text` copies the current text; the pages that read it are then out of
date.
"""

from __future__ import annotations

import re
from pathlib import Path

COURSE = Path(__file__).parents[2]
COPY = Path(__file__).with_suffix("")
BESIDE = "> "

CHAPTERS = (
    "what_you_need",
    "context_bottleneck",
    "alignment",
    "captioning",
    "self_attention",
    "queries_keys_values",
    "multi_head",
    "positions",
    "transformer_block",
    "transformer",
)
"""The pages that are read, in order: the introductory pages and chapters 1 to 9."""

SHORTEST = 60
"""The fewest characters of a paragraph; a shorter text is a heading, or the rest of a list."""

_FENCE = re.compile(r"^(`{3,}|:{3,})\{([\w-]+)\}.*?\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)
_CAPTION = re.compile(r"^    caption: \|\n((?: {6}.*\n)+)", re.MULTILINE)
_SPOKEN = ("quiz", "predict", "admonition", "note", "tip", "warning")
"""The directives whose content is prose."""

_MARKUP = (
    (re.compile(r"\{(?:doc|ref)\}`([^`<]*?)\s*<[^`>]*>`"), r"\1"),  # {doc}`words <page>`
    (re.compile(r"\{cite:?[pt]?\}`[^`]*`"), ""),
    (re.compile(r"\{glue:text\}`[^`]*`"), "so much"),  # a number that the build fills in
    (re.compile(r"\{[a-z:]+\}`([^`]*)`"), r"\1"),
    (re.compile(r"\[([^\]]*)\]\([^)]*\)"), r"\1"),  # [words](address)
    (re.compile(r"^- \[[ x]\] |^> ", re.MULTILINE), ""),  # the choices of a quiz
    (re.compile(r"(?<!\w)[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}(?!\w)"), ""),
    (re.compile(r"\s+"), " "),
)


def paragraphs(page: str, folder: str = "book") -> list[str]:
    """Return the paragraphs of a page's prose, without code, directives, headings and tables."""
    return [line for line in _copied(page, folder) if not line.startswith(BESIDE)]


def everything(page: str, folder: str = "book") -> list[str]:
    """Return the paragraphs of a page, with figure captions, predictions and quizzes in place."""
    return [line.removeprefix(BESIDE) for line in _copied(page, folder)]


def _copied(page: str, folder: str) -> list[str]:
    return (COPY / f"{folder}_{page}.txt").read_text(encoding="utf-8").splitlines()


def copy_text() -> None:
    """Copy the current text of all pages."""
    COPY.mkdir(exist_ok=True)
    pages = [("book", page) for page in CHAPTERS] + [("exercises", page) for page in CHAPTERS[1:]]
    for folder, page in pages:
        text = "".join(f"{line}\n" for line in _lines(page, folder))
        (COPY / f"{folder}_{page}.txt").write_text(text, encoding="utf-8")


def _lines(page: str, folder: str) -> list[str]:
    """Return the paragraphs of a page; captions, predictions and quizzes begin with ">"."""
    prose = set(_paragraphs(_FENCE.sub("\n", _body(page, folder))))
    spoken = _paragraphs(_FENCE.sub(lambda one: _spoken(one[2], one[3]), _body(page, folder)))
    return [line if line in prose else BESIDE + line for line in spoken]


def three_parts() -> tuple[str, str, str]:
    """Return the text of chapters and assignments in parts for training, tuning and validation.

    No paragraph occurs in two parts. Of every twenty paragraphs, the tenth is for tuning and the
    twentieth for validation.
    """
    found = [one for page in CHAPTERS for one in everything(page)]
    found += [one for page in CHAPTERS[1:] for one in everything(page, "exercises")]
    found = list(dict.fromkeys(found))  # a repeated paragraph could be in two parts
    rest = [one for place, one in enumerate(found) if place % 10 != 9]
    train, tuning, validation = (
        "\n".join(some) + "\n" for some in (rest, found[9::20], found[19::20])
    )
    return train, tuning, validation


def plain(text: str) -> str:
    """Return text without markup: the words of links, no citations, no emphasis marks."""
    for pattern, words in _MARKUP:
        text = pattern.sub(words, text)
    return re.sub(r" +([.,;:)])", r"\1", text).strip()


def _body(page: str, folder: str) -> str:
    place = f"{page}/assignment.md" if folder == "exercises" else f"{page}.md"
    text = (COURSE / folder / place).read_text(encoding="utf-8")
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    return re.sub(r"^\$\$.*?^\$\$", "\n", text, flags=re.DOTALL | re.MULTILINE)


def _spoken(directive: str, content: str) -> str:
    """Return the visible text of a directive's content, as paragraphs."""
    if directive == "code-cell":
        return "\n\n".join(["", *(one[1] for one in _CAPTION.finditer(content)), ""])
    if directive not in _SPOKEN:
        return "\n"
    lines = [line.strip() for line in content.splitlines() if not line.startswith(":")]
    return "\n" + "\n\n".join(lines) + "\n"


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs of Markdown without directives; each list item is a paragraph."""
    found = []
    for block in re.split(r"\n\s*\n|\n(?=- )", text):
        if not re.match(r"\s*(#|\(\w+\)=|\+\+\+|\||%)", block):
            found.append(plain(block.strip().removeprefix("- ")))
    return [one for one in found if len(one) >= SHORTEST]


if __name__ == "__main__":
    copy_text()
