"""The colours of the figures, and what each is called in the style of a page.

The book's build needs them where no figure is drawn, so nothing else stands here.
"""

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
