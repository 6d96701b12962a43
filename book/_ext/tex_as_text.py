"""Short formulas as plain text, for places that cannot draw them: `c_i`, `√d`, `n × n`."""

import re
from unicodedata import lookup

LETTERS = {"alpha", "beta", "gamma", "eta", "theta", "mu", "pi", "sigma", "omega", "epsilon"}
SIGNS = {
    **{name: lookup(f"GREEK SMALL LETTER {name}") for name in LETTERS},
    **{"varepsilon": "ε", "varphi": "φ", "Phi": "Φ"},
    **{"cdot": "·", "times": lookup("MULTIPLICATION SIGN"), "odot": "⊙", "pm": "±"},
    **{"le": "≤", "ge": "≥", "ne": "≠", "approx": "≈", "to": "→", "leftarrow": "←"},
    **{"dots": "…", "cdots": "…", "infty": "∞", "sum": "Σ", "partial": "∂", "nabla": "∇"},
    **{name: name for name in ("log", "ln", "sin", "cos", "tanh", "max", "min")},
    "top": "T",
}
SPACES = re.compile(r"\\[,;:! ]|\\q?quad\b|~")
NAMED = re.compile(r"\\(?:text|mathrm|operatorname|mathbb|mathbf)\{([^{}]*)\}")
ROOT = re.compile(r"\\sqrt\s*(?:\{([^{}]*)\}|(\w))")
FRACTION = re.compile(r"\\[td]?frac\s*(?:\{([^{}]*)\}|(\w))\s*(?:\{([^{}]*)\}|(\w))")
SIGN = re.compile(r"\\([A-Za-z]+)")
POWER = re.compile(r"\^\{?(-?\d+)\}?(?![\d/])")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
UNREADABLE = "…"


def as_text(tex: str) -> str:
    """Return a formula as text; an ellipsis if it is too complex to write in a line."""
    text = NAMED.sub(r"\1", SPACES.sub(" ", tex))
    text = SIGN.sub(lambda match: SIGNS.get(match[1], match[0]), text)
    text = FRACTION.sub(r"\1\2/\3\4", ROOT.sub(r"√\1\2", text))
    text = POWER.sub(lambda match: match[1].translate(RAISED), text)
    text = re.sub(r"\\([{}%#&_$])", r"\1", re.sub(r"(?<!\\)[{}]", "", text))
    return UNREADABLE if "\\" in text else " ".join(text.split())
