"""Measure how far down a page its first figure starts."""

from playwright.sync_api import Page

FIRST = """() => {
    const large = (box) => box.width >= 160 && box.height >= 80;
    const seen = [...document.querySelectorAll("article :is(figure, img, svg, canvas, .play)")]
        .filter((node) => node.checkVisibility() && large(node.getBoundingClientRect()));
    if (!seen.length) return document.documentElement.scrollHeight;
    return seen[0].getBoundingClientRect().top + scrollY;
}"""


def first_figure(page: Page) -> float:
    """Return the pixels from the top of a page to its first figure, picture or live element.

    Icons do not count. If the page has no figure, return its length.
    """
    return page.evaluate(FIRST)
