"""Find line breaks on a page that separate what belongs together."""

from playwright.sync_api import Page

PARTED = """() => {
    const blocks = "p, li, figcaption, label, legend, td, th, dd, h1, h2, h3, summary";
    const aside = "mjx-container, .side-note, svg, pre, button";
    const found = [];
    for (const block of document.querySelectorAll(`article :is(${blocks})`)) {
        if (!block.checkVisibility()) continue;
        let before = null;
        const next = (text, box, last = box) => {
            const parted = before && (box.top + box.bottom) / 2 > before.bottom
                && box.left < before.left;
            const begins = /^(?!\\.\\.)[.,;:!?)\\]%\\u2019\\u201d]+$/.test(text);
            if (parted && (begins || /[(\\[\\u201c\\u2018]$/.test(before.text)))
                found.push(`${before.text} / ${text}`);
            before = { text, bottom: last.bottom, left: last.left };
        };
        const shown = NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT;
        const nodes = document.createTreeWalker(block, shown);
        while (nodes.nextNode()) {
            const node = nodes.currentNode;
            if (node instanceof Text) {
                if (node.parentElement.closest(aside)) continue;
                if (node.parentElement.closest(blocks) !== block) continue;
                for (const { 0: word, index } of node.data.matchAll(/\\S+/g)) {
                    const range = document.createRange();
                    range.setStart(node, index);
                    range.setEnd(node, index + word.length);
                    const boxes = [...range.getClientRects()].filter((box) => box.width);
                    if (boxes.length) next(word, boxes[0], boxes.at(-1));
                    const whole = /^[^\\-\\u2010-\\u2015]*$/.test(word);
                    if (whole && block.matches("h1, h2, h3") && boxes.length > 1)
                        found.push(`${word}, in a title`);
                }
            } else if (node.matches("mjx-container:not([display])"))
                next("a formula", node.getBoundingClientRect());
        }
    }
    return found;
}"""


def parted(page: Page) -> list[str]:
    """Return each pair, joined by a slash, that a line break wrongly separates.

    No line begins with a closing mark or a per cent sign, or ends with an opening bracket. No word
    of a title is broken.
    """
    return page.evaluate(PARTED)
