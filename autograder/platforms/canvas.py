"""The archive of Canvas's *Download submissions*: one flat folder.

A name is `<name>[_LATE]_<user id>_<attachment id>_<file>`, where the name is the sortable one in
small letters with all signs left out, or the name of a group. With anonymous grading, it is
`[LATE_]anon_<anonymous id>_<attachment id>_<file>`. What is typed instead of a file ends in
`_text.html`, and a link in `_link.html`. The archive holds the newest attempt of each student.
Files of one name that a student hands in again get `-1`, `-2` in front of their extension. An
attachment id is larger than those given before it.

The file that makes it: https://github.com/instructure/canvas-lms/blob/master/lib/content_zipper.rb
The zip's entries have the time at which the archive was made.
"""

from __future__ import annotations

import re

from .uploads import Contents, Person, Upload, is_notebook

NAME = re.compile(r"(.*?)_(?:(LATE)_)?(\d+)_(\d+)_(.+)", re.ASCII)
ANONYMOUS = re.compile(r"(LATE_)?anon_([0-9A-Za-z]+)_(\d+)_(.+)", re.ASCII)
AGAIN = re.compile(r".*-\d{1,4}\.ipynb", re.ASCII)  # `(1)` is a browser's, for a copy
TYPED = re.compile(r".*_\d+_(text|link)\.html", re.ASCII)
NO_TIME = "no time: Canvas's archive tells only whether a submission is late"


def recognise(names: list[str]) -> Contents | None:
    """Return the uploads in an archive of Canvas; None if it is of another kind."""
    uploads = [
        upload
        for path in names
        if is_notebook(path) and (upload := _upload(path, path.rpartition("/")[2]))
    ]
    if not uploads:
        return None
    known = {upload.path for upload in uploads}
    others = tuple((path, _what(path)) for path in names if path not in known)
    return Contents("canvas", tuple(uploads), NO_TIME, others)


def _upload(path: str, file: str) -> Upload | None:
    if match := ANONYMOUS.fullmatch(file):
        late, number, attachment, own = match.groups()
        refused = (
            "the grading is anonymous, so Canvas does not say whose it is. Reveal the names in "
            "Canvas, then download again"
        )
        person = Person(name=f"anon {number}")
        return Upload(path, own, person, file, int(attachment), bool(late), refused=refused)
    if not (match := NAME.fullmatch(file)):
        return None
    name, late, user, attachment, own = match.groups()
    person = Person((user,), name=name or None, internal=True)
    again = AGAIN.fullmatch(own) is not None
    return Upload(path, own, person, file, int(attachment), bool(late), again)


def _what(path: str) -> str:
    if match := TYPED.fullmatch(path.rpartition("/")[2]):
        return "typed into Canvas" if match[1] == "text" else "a link"
    return "not a name as Canvas writes it" if is_notebook(path) else "not a notebook"
