"""What a notebook says of what is forbidden in an exercise."""

from __future__ import annotations

from collections.abc import Sequence


def sentence(forbidden: Sequence[str], torch: bool) -> str:
    """What a student is told is forbidden; of torch only where that is imported."""
    names = [
        f"`{name}`"
        for name in forbidden
        if "*" not in name and (torch or not name.startswith("torch."))
    ]
    if not names:
        return "Writing it yourself is the exercise: what is ready-made is forbidden."
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    them = "them, are" if names[1:] else "it, is"
    return f"Writing it yourself is the exercise: {listed}, and what is behind {them} forbidden."
