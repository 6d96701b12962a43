"""How far down a page its first picture begins."""

from playwright.sync_api import Page

FIRST = """() => {
    const large = (box) => box.width >= 160 && box.height >= 80;
    const seen = [...document.querySelectorAll("article :is(figure, img, svg, canvas, .play)")]
        .filter((one) => one.checkVisibility() && large(one.getBoundingClientRect()));
    if (!seen.length) return document.documentElement.scrollHeight;
    return seen[0].getBoundingClientRect().top + scrollY;
}"""


def first_figure(page: Page) -> float:
    """Return the pixels from a page's top to that of its first figure, picture or live element.

    Icons do not count. Where there is none, the answer is the length of the page.
    """
    return page.evaluate(FIRST)
