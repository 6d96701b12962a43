"""The archive of Canvas's *Download submissions*: a flat folder.

A file is called `<name>[_LATE]_<user id>_<attachment id>_<file>`, where `<name>` is the student's
sortable name in lower case without punctuation, or the name of a group. With anonymous grading, it
is `[LATE_]anon_<anonymous id>_<attachment id>_<file>`. Text typed instead of a file ends in
`_text.html`, and a link in `_link.html`. The archive holds the newest attempt of each student. If
a student hands in files of the same name again, they get `-1`, `-2` before their extension. Later
attachments have larger ids.

Canvas's code: https://github.com/instructure/canvas-lms/blob/master/lib/content_zipper.rb
The zip's entries have the time at which the archive was created.
"""

from __future__ import annotations

import re

from .uploads import Contents, Person, Upload, is_notebook

NAME = re.compile(r"(.*?)_(?:(LATE)_)?(\d+)_(\d+)_(.+)", re.ASCII)
ANONYMOUS = re.compile(r"(LATE_)?anon_([0-9A-Za-z]+)_(\d+)_(.+)", re.ASCII)
RESUBMISSION = re.compile(r".*-\d{1,4}\.ipynb", re.ASCII)  # browsers mark a copy with `(1)` instead
TYPED = re.compile(r".*_\d+_(text|link)\.html", re.ASCII)
NO_TIME = "no time: Canvas's archive only says whether a submission is late"


def recognise(names: list[str]) -> Contents | None:
    """Return the uploads in a Canvas archive; None if it is another kind of archive."""
    uploads = [
        upload
        for path in names
        if is_notebook(path) and (upload := _upload(path, path.rpartition("/")[2]))
    ]
    if not uploads:
        return None
    notebooks = {upload.path for upload in uploads}
    others = tuple((path, _description(path)) for path in names if path not in notebooks)
    return Contents("canvas", tuple(uploads), NO_TIME, others)


def _upload(path: str, file: str) -> Upload | None:
    if match := ANONYMOUS.fullmatch(file):
        late, number, attachment, file_name = match.groups()
        refused = (
            "the grading is anonymous, so Canvas does not name the student. Reveal the names in "
            "Canvas, then download again"
        )
        person = Person(name=f"anon {number}")
        return Upload(path, file_name, person, file, int(attachment), bool(late), refused=refused)
    if not (match := NAME.fullmatch(file)):
        return None
    name, late, user, attachment, file_name = match.groups()
    person = Person((user,), name=name or None, internal=True)
    resubmission = RESUBMISSION.fullmatch(file_name) is not None
    return Upload(path, file_name, person, file, int(attachment), bool(late), resubmission)


def _description(path: str) -> str:
    if match := TYPED.fullmatch(path.rpartition("/")[2]):
        return "typed into Canvas" if match[1] == "text" else "a link"
    return "not a file name of Canvas" if is_notebook(path) else "not a notebook"
