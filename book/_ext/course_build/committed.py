"""What git knows of the tree: the commit in which all stands that a page was made from."""

from __future__ import annotations

import subprocess
from pathlib import Path

KEPT = "book/executed"


def git(root: Path, *arguments: str) -> str | None:
    """Return what git prints; None where there is no git, or no repository."""
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def changes(root: Path) -> list[str] | None:
    """Return the files that differ from the last commit, what is kept of the pages left out.

    None where git does not know the folder.
    """
    listed = git(root, "status", "--porcelain", "--untracked-files=all", "--", ".", f":!{KEPT}")
    return None if listed is None else [line[3:] for line in listed.splitlines()]


def commit(root: Path) -> str | None:
    """Return the short name of the last commit."""
    name = git(root, "rev-parse", "--short=10", "HEAD")
    return name.strip() if name else None
