"""Figures whose lines and text follow the reader's theme, light or dark.

After `follow_theme()` figures have no background and are drawn in the colours of `colours`. In a
notebook they have exactly these colours. The book's build puts the SVG of a figure into its page
and replaces each of these colours by a variable of the page's style sheet, which has a value for
each theme.
"""

import matplotlib as mpl

from .colours import COLOURS, HEAT, IDENTITY, INK, MUTED, PAPER, RULE, TURN, VARIABLES

__all__ = ["COLOURS", "HEAT", "INK", "MUTED", "PAPER", "RULE", "TURN", "VARIABLES", "follow_theme"]


def follow_theme() -> None:
    """Make all figures that are drawn after this call follow the theme."""
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
