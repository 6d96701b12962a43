"""The colours of the figures, and the name of each in the page's style sheet.

The book's build needs the colours without the drawing functions, so this module contains only them.
"""

INK, PAPER, MUTED, RULE = "#000000", "#ffffff", "#59636e", "#d8dee4"
"""For text and axes, for text on strong colours, for secondary text, and for grids and frames."""

HEAT = "#08519c"
"""The colour of weights; a larger weight is less transparent."""

TURN = 0.77
"""On a stronger `HEAT`, text is PAPER. Its contrast is then at least 4.2 in both themes."""

COLOURS = ("#0072B2", "#D55E00", "#007A5A", "#A64B82", "#8A6100", "#3B3B3B", "#56B4E9")
"""Okabe and Ito's colour-blind-safe palette, some darkened for contrast as text on white."""

VARIABLES = {
    INK: "--figure-ink",
    PAPER: "--figure-paper",
    MUTED: "--figure-muted",
    RULE: "--figure-rule",
    HEAT: "--figure-heat",
} | {colour.lower(): f"--figure-{number}" for number, colour in enumerate(COLOURS, start=1)}
"""Colour in matplotlib's notation -> variable of the page's style sheet."""

IDENTITY = "follows-theme"
"""The id in the SVG of a figure that follows the theme; the build recognises the figure by it."""
