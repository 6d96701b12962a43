"""Links to the repository of the course: its source, its issues, and its archive.

The address is `repository_url` in `_config.yml`, and is empty until the course is published there.
With an address, the footer of every page links to the source and the issues. The substitutions
`{{ report_it }}` and `{{ copy_of_the_course }}` of a page are then links, and otherwise plain text
that mentions no repository.
"""

import re

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError

ADDRESS = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+")


def words(address: str) -> dict[str, str]:
    """Return the MyST text of each substitution. address: may be empty."""
    if not address:
        return {
            "report_it": "tell whoever gave you this book",
            "copy_of_the_course": "a copy of the course, from whoever gave you this book",
        }
    return {
        "report_it": f"[open an issue]({address}/issues)",
        "copy_of_the_course": (
            f"a copy of the course, from [its repository]({address}) or as "
            f"[an archive]({address}/archive/HEAD.zip)"
        ),
    }


def use_address(app: Sphinx, config: Config) -> None:
    """Set the substitutions. Raises ConfigError if the address is not of a GitHub repository."""
    options = config.html_theme_options
    address = options.get("repository_url", "")
    if address and not ADDRESS.fullmatch(address):
        raise ConfigError(
            f"_config.yml: repository_url: {address!r} is not the address of a GitHub repository. "
            "Write https://github.com/OWNER/NAME, or leave it empty."
        )
    config.myst_substitutions = config.myst_substitutions | words(address)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", use_address)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
