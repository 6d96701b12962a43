"""Make the preview pictures of links to chapters: the title next to the opening figure.

    python -m tests.support.preview_pictures

It needs `make site` first. A person looks at the pictures before they are committed.
"""

from __future__ import annotations

import io
import shutil

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.book.site_tools import SITE, serving
from tests.support.cells import CHAPTERS, ROOT

PREVIEWS = ROOT / "book" / "_web" / "pictures" / "previews"
SIZE = {"width": 1200, "height": 630}
COLOURS = 64

COMPOSE = """() => {
    const heading = document.querySelector("article h1").cloneNode(true);
    heading.querySelector(".headerlink")?.remove();
    const figure = document.querySelector(".opening svg").cloneNode(true);
    const sheet = document.createElement("div");
    sheet.append(heading, figure);
    sheet.id = "preview";
    const style = document.createElement("style");
    style.textContent = `
        body > :not(#preview) { position: absolute; left: -200vw; width: 100vw; }
        #preview { position: fixed; inset: 0; display: grid; grid-template-columns: 26rem 1fr;
            gap: 3rem; align-items: center; padding: 3.5rem; background: var(--paper); }
        #preview h1 { font: 560 3.6rem/1.1 var(--font-text); margin: 0; letter-spacing: -0.01em; }
        #preview .section-number { display: block; color: var(--quiet); font-weight: 400; }
        #preview svg { width: 100%; height: 100%; max-height: 33rem; overflow: visible;
            fill: var(--figure-ink); font-family: var(--font-ui); }`;
    document.body.append(sheet, style);
}"""


def main() -> None:
    """Write a picture for each chapter."""
    PREVIEWS.mkdir(exist_ok=True)
    with sync_playwright() as playwright, serving(SITE) as address:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(f"{address}/index.html")  # fetches the fonts that the next pages use
        page.wait_for_load_state("networkidle")
        for chapter in CHAPTERS:
            (PREVIEWS / f"{chapter}.png").write_bytes(preview(page, f"{address}/{chapter}.html"))
            print(f"{chapter}: {(PREVIEWS / f'{chapter}.png').stat().st_size / 1000:.0f} kB")
        browser.close()


def preview(page: Page, address: str) -> bytes:
    """Return the picture of the chapter at an address, as a PNG with a palette."""
    page.goto(address)
    page.evaluate(COMPOSE)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(COLOURS)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


if __name__ == "__main__":
    main()
