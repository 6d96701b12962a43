"""Tell students in the notebook which functions an exercise forbids."""

from __future__ import annotations

from collections.abc import Sequence


def sentence(forbidden: Sequence[str], torch: bool) -> str:
    """Return a sentence that names the forbidden functions, those of torch only if `torch`."""
    names = [
        f"`{name}`"
        for name in forbidden
        if "*" not in name and (torch or not name.startswith("torch."))
    ]
    if not names:
        return "The exercise is to write this yourself: ready-made functions are forbidden."
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    them = "them" if names[1:] else "it"
    return (
        f"The exercise is to write this yourself: {listed}, and the functions behind {them}, are "
        "forbidden."
    )
