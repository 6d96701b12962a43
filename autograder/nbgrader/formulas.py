"""Formulas as MathML, which a browser draws without a script and without asking another host.

docutils reads a part of LaTeX. What it does not know stays as it was written, so nothing is lost:
https://docutils.sourceforge.io/docs/ref/rst/mathematics.html
"""

from __future__ import annotations

import re

from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml

TAGS = frozenset(
    {"math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mphantom", "mroot", "mrow", "mspace"}
    | {"msqrt", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover"}
)
"""What a formula is made of."""

ATTRIBUTES = frozenset(
    {"accent", "accentunder", "columnalign", "depth", "display", "displaystyle", "height"}
    | {"linethickness", "lspace", "mathvariant", "maxsize", "minsize", "movablelimits", "notation"}
    | {"rspace", "scriptlevel", "stretchy", "symmetric", "width"}
)
"""What says how a part of a formula is drawn."""

VALUE = re.compile(r"[\w.%+ -]*", re.ASCII)

ALIASES = {"bm": r"\mathbfit", "boldsymbol": r"\mathbfit", "dots": r"\ldots", "gt": ">", "lt": "<"}
"""Commands that students write and docutils does not know, or takes too far, in its own words."""

ALIAS = re.compile(rf"\\({'|'.join(ALIASES)})(?![A-Za-z])")

DISPLAYED = re.compile(r"(align|equation|gather)\*?")
"""The environments that are a block of formulas, which docutils takes without their names."""

UNREADABLE = (
    *(MathError, SyntaxError, ValueError, TypeError),
    *(LookupError, AttributeError, RecursionError),
)
"""What docutils raises on what it cannot read, or should have refused."""


def mathml(source: str, *, block: bool) -> str | None:
    """Return the formula as MathML, on lines of its own if `block`; None if it cannot be read.

    A blank before the second dollar sign alone is prose: "from $5 to $10".
    """
    if not block and source[-1:].isspace() and not source[:1].isspace():
        return None
    known = ALIAS.sub(lambda found: ALIASES[found[1]], source)
    try:
        return str(tex2mathml(known, as_block=block))
    except (
        MathError,
        SyntaxError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        RecursionError,
    ):
        return None


def harmless(value: str) -> bool:
    """Return whether the value of an attribute may stay: a number, a length or a word."""
    return VALUE.fullmatch(value) is not None
