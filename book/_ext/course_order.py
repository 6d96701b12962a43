"""Read the chapters in the order of the table of contents, not of the alphabet.

A chapter may show what a chapter before it has measured (`solutions.reporting.read_figure_data`).
"""

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx_external_toc.api import Document, SiteMap


def in_order(site: SiteMap, document: Document) -> list[str]:
    """Return the names of `document` and of all below it, as they stand in the contents."""
    children = [name for name in document.child_files() if name in site]
    return [document.docname, *(n for child in children for n in in_order(site, site[child]))]


def sort(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Bring the documents to be read into order, in place; any that are not listed come last."""
    site = app.config.external_site_map
    place = {name: i for i, name in enumerate(in_order(site, site.root))}
    docnames.sort(key=lambda name: (place.get(name, len(place)), name))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-before-read-docs", sort)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
