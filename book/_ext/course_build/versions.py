"""What git knows: nothing where there is no git, or no repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

BASE = "HEAD^"
"""What the last commit, or the merge of a branch, was made on."""


def git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints in `folder`; None if it cannot do what it is asked for."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def knows(path: Path) -> bool:
    """Tell whether the last commit holds `path`, be it there or not."""
    return bool(path.parent.is_dir() and git(path.parent, "ls-tree", "HEAD", path.name))


def changed(root: Path, folder: Path) -> set[str] | None:
    """Return which folders in `folder` the last commit has changed; None if that is not known."""
    listed = git(root, "diff", "--name-only", "--relative", BASE, "HEAD", "--", str(folder))
    if listed is None:
        return None
    depth = len(folder.parts)
    return {Path(name).parts[depth] for name in listed.splitlines()}
