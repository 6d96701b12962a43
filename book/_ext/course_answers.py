"""The answers to exercises, which the edition for a class leaves out. The directive

    ```{answer} queries_keys_values.causal_mask queries_keys_values.padding_mask
    ```

shows the two functions from `solutions/queries_keys_values.py`, without docstrings, in a fold that
asks the reader to try first. `make site ANSWERS=hidden` builds the edition for a class: its pages
have no such folds, and their sources cannot be downloaded. It also leaves out the content of every
`spoiler`, which the other edition shows as ordinary text:

    ````{spoiler}
    Text that would give an answer away, such as a derivation.
    ````
"""

import ast
import os
import shutil
from pathlib import Path

from assignment_facts import FILE, chapter_of, stored_facts
from course_folds import Fold
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.util.docutils import SphinxDirective

ENVIRONMENT = "COURSE_ANSWERS"
EDITIONS = ("shown", "hidden")
HERE = "One way to write it. It is an exercise of this chapter: try first."
ELSEWHERE = "One way to write it. It is an exercise of another chapter: try first."
NOWHERE = "One way to write it."


class Answer(SphinxDirective):
    """A fold with the source of each `<chapter>.<function or class>`."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        if self.config.course_answers == "hidden":
            return []
        names = self.arguments[0].split()
        try:
            code = "\n\n\n".join(self.source(name) for name in names)
        except (OSError, LookupError):
            raise self.error(
                f"solutions/ has no function or class {self.arguments[0]!r}. Write "
                "<chapter>.<name>, for instance alignment.softmax."
            ) from None
        self.env.note_dependency(str(FILE))
        block = nodes.literal_block(code, code, language="python")
        fold = Fold(title_of(names, self.env.docname), block, classes=["answer"])
        self.set_source_info(fold)
        self.set_source_info(block)
        return [fold]

    def source(self, name: str) -> str:
        """Return the source of `name`. Raises OSError or LookupError if it does not exist."""
        module, _, member = name.partition(".")
        path = Path(self.env.srcdir).parent / "solutions" / f"{module}.py"
        self.env.note_dependency(str(path))
        text = path.read_text(encoding="utf-8")
        origin = imported_from(text, member)
        return self.source(f"{origin}.{member}") if origin else definition(text, member)


def title_of(names: list[str], page: str) -> str:
    """Return the title of a fold that shows `names`, `<chapter>.<function or class>` each."""
    exercises = {
        f"{chapter}.{fact['name']}"
        for chapter, facts in stored_facts().items()
        for fact in facts["exercises"]
    }
    # A chapter may keep some of its references in a second module, `<chapter>_<words>`.
    of_page = {f"{chapter_of(page)}.{name.partition('.')[2]}" for name in names}
    return HERE if exercises & of_page else ELSEWHERE if exercises & {*names} else NOWHERE


class Spoiler(SphinxDirective):
    """Text that the edition for a class leaves out."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        return [] if self.config.course_answers == "hidden" else self.parse_content_to_nodes()


def imported_from(module: str, name: str) -> str | None:
    """Return the chapter from which `module` (Python source) imports `name`, else None."""
    imports = [node for node in ast.parse(module).body if isinstance(node, ast.ImportFrom)]
    relative = [node for node in imports if node.level == 1]
    return next((node.module for node in relative if name in [a.name for a in node.names]), None)


def _end(node: ast.stmt) -> int:
    """Return the last line of a statement that was parsed."""
    assert node.end_lineno is not None
    return node.end_lineno


def definition(module: str, name: str) -> str:
    """Return the lines of `module` (Python source) that define `name`, without docstrings.

    Raises LookupError if no statement at the top level defines that name.
    """
    definitions = (ast.ClassDef, ast.FunctionDef)
    statements = [node for node in ast.parse(module).body if isinstance(node, definitions)]
    matches = [node for node in statements if node.name == name]
    if not matches:
        raise LookupError(name)
    (node,) = matches
    dropped: set[int] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(inner):
            text = inner.body[0]
            blank = 1 if isinstance(inner, ast.ClassDef) else 0  # the empty line below it
            dropped |= set(range(text.lineno, _end(text) + 1 + blank))
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    lines = enumerate(module.splitlines(), start=1)
    return "\n".join(
        line for number, line in lines if first <= number <= _end(node) and number not in dropped
    )


def prepare_edition(app: Sphinx, config: Config) -> None:
    """Offer no page's source in the edition for a class. Raises ConfigError if it is unknown."""
    if config.course_answers not in EDITIONS:
        raise ConfigError(
            f"ANSWERS={config.course_answers}: unknown edition. "
            f"Write one of: {', '.join(EDITIONS)}."
        )
    if config.course_answers == "hidden":
        config.html_copy_source = config.html_show_sourcelink = False


def forget_answers(app: Sphinx) -> None:
    """Remove the pages' sources that an earlier, ordinary build has left."""
    if app.config.course_answers == "hidden":
        shutil.rmtree(Path(app.outdir, "_sources"), ignore_errors=True)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("course_answers", os.environ.get(ENVIRONMENT, EDITIONS[0]), "env")
    app.add_directive("answer", Answer)
    app.add_directive("spoiler", Spoiler)
    app.connect("config-inited", prepare_edition)
    app.connect("builder-inited", forget_answers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
