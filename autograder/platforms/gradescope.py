"""The archive of Gradescope's *Export submissions*: a folder per submission, and their metadata.

`submission_metadata.yml` is in the same folder as the submissions' folders, whose names are its
keys. Each entry has `:submitters` (a list of `:name`, `:sid`, `:email`, with several items for a
group), `:created_at` and, if there were several submissions, `:history`. Its keys are symbols of
Ruby, so they begin with a colon. The export holds only each student's active submission.

Gradescope does not document the format. An example is in the tests of otter-grader:
https://github.com/ucbds-infra/otter-grader/tree/master/test/test-grade/gradescope-export
"""

from __future__ import annotations

from typing import Any

import yaml

from .archive import Archive, ArchiveError
from .times import parse_time
from .uploads import Contents, Person, Upload, is_notebook, suffix

METADATA = "submission_metadata.yml"
SOURCE = "Gradescope's metadata"
NO_TIME = "no time: Gradescope's metadata has none"


def recognise(archive: Archive) -> Contents | None:
    """Return the uploads in a Gradescope export, one for each submitter.

    Return None if it is another kind of archive. Raises ArchiveError if the metadata cannot be
    read.
    """
    names = sorted(archive.sizes)
    metadata = _metadata(names)
    if metadata is None:
        return None
    base = metadata.removesuffix(METADATA)
    entries = _entries(archive, metadata)
    uploads: list[Upload] = []
    others: list[tuple[str, str]] = []
    for path in names:
        folder, _, rest = path.removeprefix(base).partition("/")
        if path == metadata:
            continue
        if not is_notebook(path) or not rest:
            others.append((path, "not a notebook"))
        elif folder not in entries:
            others.append((path, f"its folder is not in {METADATA}"))
        else:
            uploads += _uploads(path, folder, entries[folder])
    return Contents("gradescope", tuple(uploads), NO_TIME, tuple(others))


def _metadata(names: list[str]) -> str | None:
    """Return the name of the metadata file; a student may hand in a file of the same name."""
    for name in (METADATA, f"{names[0].partition('/')[0]}/{METADATA}" if names else METADATA):
        base = name.removesuffix(METADATA)
        if name in names and all(other.startswith(base) for other in names):
            return name
    return None


def _uploads(path: str, folder: str, entry: dict[str, Any]) -> list[Upload]:
    file = path.rpartition("/")[2]
    time = parse_time(_text(entry.get(":created_at")) or "")
    resubmission = isinstance(entry.get(":history"), list) and bool(entry[":history"])
    submitters = entry.get(":submitters")
    people = [entry for entry in submitters if isinstance(entry, dict)] if submitters else []
    if not people:
        refused = "Gradescope's metadata names no submitter. Assign the submission there"
        return [Upload(path, file, Person(), folder, suffix(file), refused=refused)]
    return [
        Upload(
            path,
            file,
            _person(entry),
            folder,
            suffix(file),
            resubmission=resubmission,
            time=time,
            time_source=SOURCE if time else "",
        )
        for entry in people
    ]


def _person(entry: dict[str, Any]) -> Person:
    sid, email, name = (_text(entry.get(key)) for key in (":sid", ":email", ":name"))
    return Person(tuple(filter(None, (sid, email))), email, name)


def _text(value: Any) -> str | None:
    """Return a scalar of the metadata, which are all read as text; None for Ruby's nil."""
    return value.strip() if isinstance(value, str) and value not in ("", "~", "null") else None


def _entries(archive: Archive, name: str) -> dict[str, dict[str, Any]]:
    """Return the entries of the metadata by folder, with every scalar as text."""
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        content = yaml.load(archive.read(name), Loader=loader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        reason = str(error).splitlines()[0]
        raise ArchiveError(
            f"{archive.path}: {name} cannot be read ({reason}). Nothing was collected. Export the "
            "submissions again."
        ) from error
    if not isinstance(content, dict):
        raise ArchiveError(
            f"{archive.path}: {name} holds no submissions. Nothing was collected. Export the "
            "submissions again."
        )
    return {str(key): entry for key, entry in content.items() if isinstance(entry, dict)}
