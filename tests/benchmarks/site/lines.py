"""Count the characters on each full line of a page's paragraphs."""

from playwright.sync_api import Page

COUNT = """() => {
    const full = [];
    for (const paragraph of document.querySelectorAll("article section > p")) {
        if (paragraph.querySelector("mjx-container")) continue;
        const lines = [];
        let bottom = -Infinity;
        const texts = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
        while (texts.nextNode())
            for (const { index, 0: word } of texts.currentNode.data.matchAll(/\\S+\\s*/g)) {
                const range = document.createRange();
                range.setStart(texts.currentNode, index);
                range.setEnd(texts.currentNode, index + word.trimEnd().length);
                const [box] = range.getClientRects();
                if (!box) continue;
                if (box.top >= bottom) {
                    lines.push("");
                    bottom = box.bottom;
                }
                lines[lines.length - 1] += word.replace(/\\s+$/, " ");
            }
        full.push(...lines.slice(0, -1).map((line) => line.trimEnd().length));
    }
    return full;
}"""


def characters_a_line(page: Page) -> list[int]:
    """Return the length of each line of text, except the last lines of paragraphs.

    Paragraphs with a formula are left out, since its source differs from the displayed text.
    """
    return page.evaluate(COUNT)
