"""The outline of the book for the PDF, from `_config.yml`, `_toc.yml` and the front page."""

import html
import re
from pathlib import Path
from typing import Any

import yaml
from sphinx_external_toc.api import SiteMap
from sphinx_external_toc.parsing import parse_toc_yaml

DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)"')


def book(root: Path) -> dict[str, Any]:
    """Return title, sentence, author and parts, in the form that `assemble` in paper.mjs needs."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    front = (root / "_build" / "html" / "index.html").read_text(encoding="utf-8")
    match = DESCRIPTION.search(front)
    return {
        "title": config["title"],
        "sentence": html.unescape(match[1]) if match else "",
        "author": f"© {config['copyright']} {config['author']}",
        "parts": parts(parse_toc_yaml(root / "book" / "_toc.yml")),
    }


def parts(site: SiteMap) -> list[dict[str, Any]]:
    """Return the parts, with the names of their pages and of the pages below each of them."""
    return [
        {
            "title": tree.caption,
            "entries": [
                {"name": str(page), "below": [str(name) for name in below(site, str(page))]}
                for page in tree.items
            ],
        }
        for tree in site.root.subtrees
    ]


def below(site: SiteMap, page: str) -> list[str]:
    """Return the names of the pages below a page, except pages of exercises."""
    names = (str(item) for tree in site[page].subtrees for item in tree.items)
    return [name for name in names if not name.startswith("practise/")]
