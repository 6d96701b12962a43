"""Figures whose lines and text follow the reader's theme, light or dark.

After `follow_theme()` figures have no background and are drawn in the colours of `colours`. In a
notebook they look as these say. The book's build puts the SVG of a figure into its page, and each
of these colours becomes a variable of the page's style, which has a value for either theme.
"""

import matplotlib as mpl

from .colours import COLOURS, HEAT, IDENTITY, INK, MUTED, PAPER, RULE, TURN, VARIABLES

__all__ = ["COLOURS", "HEAT", "INK", "MUTED", "PAPER", "RULE", "TURN", "VARIABLES", "follow_theme"]


def follow_theme() -> None:
    """Let all figures that are drawn from now on follow the theme."""
    mpl.rcParams.update(
        {
            "svg.id": IDENTITY,
            "svg.fonttype": "path",  # the same letters for every reader
            "figure.facecolor": "none",
            "axes.facecolor": "none",
            "legend.frameon": False,
            "grid.color": RULE,
            "axes.edgecolor": MUTED,
            "xtick.color": MUTED,
            "ytick.color": MUTED,
            "xtick.labelcolor": INK,
            "ytick.labelcolor": INK,
        }
    )
