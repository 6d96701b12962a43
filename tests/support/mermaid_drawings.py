"""Render the Mermaid drawings of the course once, in the page's own colours and font.

    python -m tests.support.mermaid_drawings

Mermaid computes the layout; only lines, boxes and text are stored (course_drawings.py).
It needs `make tools chromium` first. A person looks at the pictures before they are committed.
"""

from __future__ import annotations

import base64
import re
import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from book._ext.course_drawings import digest, picture_of

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "book" / "_web" / "node_modules"
MERMAID = PACKAGES / "@mermaid-js" / "tiny" / "dist" / "mermaid.tiny.js"
FONT = PACKAGES / "@fontsource-variable/source-sans-3/files/source-sans-3-latin-wght-normal.woff2"
FENCE = re.compile(r"^```mermaid\n(.*?)^```", re.MULTILINE | re.DOTALL)

SIZE = 15
LINE = 20
READABLE = 10
"""The font size, the line height, and the smallest font size on a phone, in pixels."""

SETTINGS = {
    "startOnLoad": False,
    "theme": "base",
    "themeVariables": {"fontFamily": "Sans", "fontSize": f"{SIZE}px"},
    "flowchart": {"nodeSpacing": 14, "rankSpacing": 28, "padding": 8, "wrappingWidth": 300},
}

PLACES = """async ([source, settings]) => {
    await Promise.all(["16px", "bold 16px"].map((font) => document.fonts.load(`${font} Sans`)));
    mermaid.initialize(settings);
    document.body.innerHTML = (await mermaid.render("drawing", source)).svg;
    const svg = document.querySelector("svg");
    const { width, height } = svg.viewBox.baseVal;
    svg.style.maxWidth = "none";
    svg.setAttribute("width", width);
    const { left, top } = svg.getBoundingClientRect();
    const boxes = (of) => [...svg.querySelectorAll(of)].map((group) => {
        const box = group.querySelector(":scope > rect").getBoundingClientRect();
        const lines = group.querySelector(".nodeLabel p").innerHTML.split("<br>");
        return { x: box.x - left, y: box.y - top, width: box.width, height: box.height, lines };
    });
    return {
        width, height,
        words: [...svg.querySelectorAll("title, desc")].map((element) => element.textContent),
        arrows: [...svg.querySelectorAll(".flowchart-link:not(.edge-thickness-invisible)")]
            .map((element) => element.getAttribute("d")),
        rooms: boxes(".cluster"),
        boxes: boxes(".node"),
    };
}"""


def main() -> None:
    """Write the picture of every drawing in docs/architecture.md and on the pages."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = canvas(browser)
        for source in sources():
            picture_of(source).write_text(picture(page, source), encoding="utf-8")
        browser.close()


def canvas(browser: Browser) -> Page:
    """Return a page with the site's sans and with Mermaid."""
    page = browser.new_page()
    font = base64.b64encode(FONT.read_bytes()).decode()
    page.set_content(
        "<style>body { margin: 0 } @font-face { font-family: Sans; font-weight: 200 900;"
        f"src: url(data:font/woff2;base64,{font}) }}</style>"
    )
    page.add_script_tag(path=MERMAID)
    return page


def sources() -> Iterator[str]:
    """Yield the text of each drawing."""
    for file in (ROOT / "docs" / "architecture.md", *sorted((ROOT / "book").glob("*.md"))):
        yield from FENCE.findall(file.read_text(encoding="utf-8"))


def picture(page: Page, source: str) -> str:
    """Return a drawing as SVG that uses the variables of the page's style."""
    layout = page.evaluate(PLACES, [source, SETTINGS])
    arrow = f"{picture_of(source).stem}-arrow"
    width, height = round(layout["width"]), round(layout["height"])
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="course-figure" role="img"'
            f' aria-label="{escape(": ".join(layout["words"]))}" data-source="{digest(source)}"'
            f' width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
            f' style="--readable: {width * READABLE // SIZE}px">',
            f'<marker id="{arrow}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9"'
            ' markerHeight="9" orient="auto"><path d="M0 1 10 5 0 9z"'
            ' fill="var(--figure-muted)"/></marker>',
            '<g fill="none" stroke="var(--figure-muted)" stroke-dasharray="2 3">',
            *map(outline, layout["rooms"]),
            f'</g><g fill="none" stroke="var(--figure-muted)" marker-end="url(#{arrow})">',
            *(f'<path d="{rounded(path)}"/>' for path in layout["arrows"]),
            '</g><g fill="var(--tint)" stroke="var(--figure-rule)">',
            *map(outline, layout["boxes"]),
            f'</g><g font-size="{SIZE}">',
            *(line for room in layout["rooms"] for line in title(room)),
            f'</g><g font-size="{SIZE}" text-anchor="middle">',
            *(line for box in layout["boxes"] for line in label(box)),
            "</g></svg>\n",
        )
    )


def outline(box: dict[str, Any]) -> str:
    """Return the outline of a box."""
    sides = " ".join(f'{name}="{box[name]:.1f}"' for name in ("x", "y", "width", "height"))
    return f'<rect {sides} rx="4"/>'


def rounded(path: str) -> str:
    """Return a path whose numbers have one decimal."""
    return re.sub(r"-?\d+\.\d+", lambda match: f"{float(match[0]):.1f}", path)


def title(room: dict[str, Any]) -> Iterator[str]:
    """Yield the title of a room, in its upper left corner."""
    yield from words(room["lines"], room["x"] + 12, room["y"] + LINE)


def label(box: dict[str, Any]) -> Iterator[str]:
    """Yield the text of a box, in its middle."""
    first = box["y"] + (box["height"] - LINE * len(box["lines"])) / 2 + 0.72 * LINE
    yield from words(box["lines"], box["x"] + box["width"] / 2, first)


def words(lines: list[str], x: float, y: float) -> Iterator[str]:
    """Yield a text element for each line; Mermaid has written them as HTML."""
    for number, line in enumerate(lines):
        text = line.removeprefix("<b>").removesuffix("</b>")
        weight = ' font-weight="600"' if text != line else ""
        yield f'<text x="{x:.1f}" y="{y + number * LINE:.1f}"{weight}>{text}</text>'


if __name__ == "__main__":
    main()
