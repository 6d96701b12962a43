"""Questions to git. Without git, or without a repository, the answer is that nothing is known."""

from __future__ import annotations

import subprocess
from pathlib import Path

BASE = "HEAD^"
"""The parent of the last commit; of a merge, the commit into which the branch was merged."""


def git(folder: Path, *arguments: str) -> str | None:
    """Return the output of git in `folder`; None if the command fails."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout


def is_committed(path: Path) -> bool:
    """Return whether the last commit holds `path`, which need not exist now."""
    return bool(path.parent.is_dir() and git(path.parent, "ls-tree", "HEAD", path.name))


def changed_folders(root: Path, folder: Path) -> set[str] | None:
    """Return the subfolders of `folder` that the last commit has changed; None if git fails."""
    names = git(root, "diff", "--name-only", "--relative", BASE, "HEAD", "--", str(folder))
    if names is None:
        return None
    depth = len(folder.parts)
    return {Path(name).parts[depth] for name in names.splitlines()}
