"""Figures whose lines and text follow the reader's theme, light or dark.

After `follow_theme()` figures have no background and are drawn in the colours named here. In a
notebook they look as these say. The book's build puts the SVG of a figure into its page, and each
of these colours becomes a variable of the page's style, which has a value for either theme.
"""

import matplotlib as mpl

INK, PAPER, MUTED, RULE = "#000000", "#ffffff", "#59636e", "#d8dee4"
"""Text and axes; what stands on strong colours; what is said by the way; grids and frames."""

HEAT = "#08519c"
"""The colour of weights: the larger the weight, the less transparent."""

TURN = 0.77
"""Text on a stronger `HEAT` is PAPER: so its contrast is at least 4.2 in both themes."""

COLOURS = ("#0072B2", "#D55E00", "#007A5A", "#A64B82", "#8A6100", "#3B3B3B", "#56B4E9")
"""Okabe and Ito's colour-blind-safe palette, some darkened for contrast as text on white."""

VARIABLES = {
    INK: "--figure-ink",
    PAPER: "--figure-paper",
    MUTED: "--figure-muted",
    RULE: "--figure-rule",
    HEAT: "--figure-heat",
} | {colour.lower(): f"--figure-{number}" for number, colour in enumerate(COLOURS, start=1)}
"""Colour as matplotlib writes it -> variable of the page's style."""

IDENTITY = "follows-theme"
"""The id of the SVG of such a figure, by which the build knows it."""


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
