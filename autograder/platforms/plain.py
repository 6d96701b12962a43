"""Archives from no platform: `<student>/<assignment>.ipynb`, `<student>_<assignment>.ipynb`.

nbgrader's own layout is `<student>/<assignment>/<assignment>.ipynb`, with a `timestamp.txt` in the
same folder if the time is known:
https://nbgrader.readthedocs.io/en/stable/user_guide/managing_assignment_files.html
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from ..course.plaintext import printable
from ..course.times import parse_time
from .archive import Archive
from .uploads import Contents, Person, Upload, is_notebook, stem, suffix

TIMESTAMP = "timestamp.txt"
NO_TIME = "no time: the time of a file may be the time of copying it"


def recognise(archive: Archive, assignments: Collection[str]) -> Contents:
    """Return the uploads; `assignments` are the names of the course's assignments."""
    names = sorted(archive.sizes)
    notebooks = [path for path in names if is_notebook(path)]
    flat = len({path.rpartition("/")[0] for path in notebooks}) == 1 < len(notebooks)
    uploads = tuple(_upload(archive, path, assignments, flat) for path in notebooks)
    others = tuple(
        (path, "not a notebook")
        for path in names
        if path not in notebooks and not path.endswith(TIMESTAMP)
    )
    return Contents("files", uploads, NO_TIME, others)


def _upload(archive: Archive, path: str, assignments: Collection[str], flat: bool) -> Upload:
    *folders, file = path.split("/")
    timestamp = "/".join([*folders, TIMESTAMP])
    if folders and folders[-1] in assignments:
        folders.pop()
    ids = [] if flat and stem(file) not in assignments else folders[-1:]
    for name in assignments:
        if stem(file).endswith(f"_{name}"):
            ids.append(stem(file).removesuffix(f"_{name}"))
    data = archive.read(timestamp)[:100] if _is_small(archive, timestamp) else b""
    time, problem = _time(data.decode("utf-8", "replace"))
    person = Person(tuple(dict.fromkeys(filter(None, ids))), name=_name(ids))
    refused = problem if ids else "neither its name nor its folder names the student"
    return Upload(
        path,
        file,
        person,
        path,
        suffix(file),
        resubmission=bool(suffix(file)),
        time=time,
        time_source="its timestamp.txt" if time else "",
        refused=refused,
    )


def _time(text: str) -> tuple[datetime | None, str]:
    """Return the time in a timestamp.txt, if any, and the reason if it cannot be read."""
    if not text.strip():
        return None, ""
    try:
        return parse_time(text.strip()), ""
    except Exception as error:  # a student's text can make the parser raise other types, too
        return None, f"its timestamp.txt holds no time ({printable(str(error))})"


def _is_small(archive: Archive, name: str) -> bool:
    return archive.sizes.get(name, 1000) < 1000


def _name(ids: list[str]) -> str | None:
    return next(iter(ids), None)
