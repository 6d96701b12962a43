"""Convert formulas to MathML, which a browser draws without scripts and without another host.

docutils supports a subset of LaTeX. Formulas outside that subset are shown as LaTeX:
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
"""The elements that a formula may have."""

ATTRIBUTES = frozenset(
    {"accent", "accentunder", "columnalign", "depth", "display", "displaystyle", "height"}
    | {"linethickness", "lspace", "mathvariant", "maxsize", "minsize", "movablelimits", "notation"}
    | {"rspace", "scriptlevel", "stretchy", "symmetric", "width"}
)
"""The attributes that elements of a formula may have."""

VALUE = re.compile(r"[\w.%+ -]*", re.ASCII)

ALIASES = {"bm": r"\mathbfit", "boldsymbol": r"\mathbfit", "dots": r"\ldots", "gt": ">", "lt": "<"}
"""docutils' equivalents of commands that students use and that it does not support properly."""

ALIAS = re.compile(rf"\\({'|'.join(ALIASES)})(?![A-Za-z])")

DISPLAYED = re.compile(r"(align|equation|gather)\*?")
"""The environments that are blocks of formulas. docutils gets only their contents."""

UNREADABLE = (
    *(MathError, SyntaxError, ValueError, TypeError),
    *(LookupError, AttributeError, RecursionError),
)
"""The exceptions that docutils raises for formulas that it cannot read."""


def mathml(source: str, *, block: bool) -> str | None:
    """Return a formula as MathML, as a displayed formula if `block`; None if it cannot be read.

    Text between dollar signs that only ends with a blank is prose, as in "from $5 to $10".
    """
    if not block and source[-1:].isspace() and not source[:1].isspace():
        return None
    supported = ALIAS.sub(lambda match: ALIASES[match[1]], source)
    try:
        return str(tex2mathml(supported, as_block=block))
    except UNREADABLE:
        return None


def is_harmless(value: str) -> bool:
    """Return True if the value of an attribute is safe to keep: a number, a length or a word."""
    return VALUE.fullmatch(value) is not None
