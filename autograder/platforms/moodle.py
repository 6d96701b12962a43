"""The archive of Moodle's *Download all submissions*, in both layouts, and its grading worksheet.

With *Download submissions in folders*, a file is `<full name>_<participant>_assignsubmission_file/
<file>`, where versions before 4.1 append another underscore to the folder's name; without that
setting, it is `<full name>_<participant>_assignsubmission_file_<file>`. Underscores in the full
name become blanks. With anonymous submissions, the name is "Participant". The number of a
participant is valid for a single assignment, so it does not identify a student.
Moodle's code:
https://github.com/moodle/moodle/blob/main/public/mod/assign/classes/downloader.php
The zip's entries have the time at which the archive was created (ZipStream's default).

The worksheet (*Download grading worksheet*) has a row per participant. In English, its columns are
`Identifier` ("Participant 12"), `Full name`, the fields that the site shows of a user's identity
(`Email address`, `ID number`, `Username`), `Status`, `Grade`, `Maximum grade` and
`Last modified (submission)`, a time in the time zone of the person who downloads it:
https://github.com/moodle/moodle/blob/main/public/mod/assign/gradingtable.php
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from .times import parse_moodle_time
from .uploads import Contents, Person, Upload, is_notebook, suffix
from .worksheet import Participant, WorksheetError

FOLDER = re.compile(r"([^_]*)_(\d+)_assignsubmission_file_?", re.ASCII)
FILE = re.compile(r"([^_]*)_(\d+)_assignsubmission_file_(.+)", re.ASCII)
TYPED = re.compile(r"[^/]*_\d+_assignsubmission_onlinetext", re.ASCII)
BESIDE_STUDENTS = re.compile(r"(?!.*_assignsubmission_)[^/]+(?:/[^/]+)?")
"""Matches the name of a file that is not in a student's folder."""

NO_TIME = "no time: Moodle's archive has none. Add the grading worksheet with --worksheet"
SOURCE = "Moodle's worksheet, read in this computer's time zone"
NO_ROW = "no time: the worksheet has none for this participant"
ANONYMOUS = (
    "the submissions are anonymous, so Moodle does not name the student. Reveal the identities in "
    "Moodle, then download again"
)


def recognise(names: list[str], worksheet: Mapping[str, Participant] | None) -> Contents | None:
    """Return the uploads in a Moodle archive; None if it is another kind of archive.

    `worksheet` maps participants' numbers to rows of the grading worksheet, if there is one. Raises
    WorksheetError if it has none of the archive's participants.
    """
    uploads: list[Upload] = []
    others: list[tuple[str, str]] = []
    for path in names:
        if upload := _upload(path, worksheet or {}):
            uploads.append(upload)
        else:
            typed = TYPED.match(path.rpartition("/")[0] or path)
            others.append((path, "typed into Moodle" if typed else "not a notebook"))
    if not uploads:
        return None
    numbers = {match[2] for path in names if (match := _match(path))}
    if worksheet is not None and not numbers & worksheet.keys():
        raise WorksheetError(
            "The worksheet has none of the archive's participants, so it belongs to another "
            "assignment. Download the worksheet of this assignment. Nothing was written."
        )
    no_time = NO_TIME if worksheet is None else NO_ROW
    return Contents("moodle", tuple(uploads), no_time, tuple(others))


def _match(path: str) -> re.Match[str] | None:
    """Return the match of the part of `path` that names a participant, if there is one."""
    *folders, file = path.split("/")
    matches = (FOLDER.fullmatch(folder) for folder in folders)
    return next(filter(None, matches), None) or FILE.fullmatch(file)


def _letters(name: str) -> str:
    """Return the letters and digits of a name; Moodle omits other characters in a file's name."""
    return "".join(filter(str.isalnum, name)).casefold()


def _upload(path: str, worksheet: Mapping[str, Participant]) -> Upload | None:
    """Return the upload at `path`, if part of the path is a name in Moodle's format."""
    if not is_notebook(path):
        return None
    *folders, file = path.split("/")
    for folder in folders:
        if match := FOLDER.fullmatch(folder):
            return _make_upload(path, file, f"{folder}/", match, worksheet)
    if match := FILE.fullmatch(file):
        file_name = match[3]
        return _make_upload(path, file_name, file.removesuffix(file_name), match, worksheet)
    return None


def _make_upload(
    path: str,
    file: str,
    place: str,
    match: re.Match[str],
    worksheet: Mapping[str, Participant],
) -> Upload:
    name = match[1].strip()
    upload = Upload(
        path,
        file,
        Person(name=name or None),
        place,
        suffix(file),
        resubmission=bool(suffix(file)),
        refused=ANONYMOUS if name == "Participant" else "",
    )
    row = worksheet.get(match[2])
    if row is None:
        return upload
    if name and row.name and _letters(name) != _letters(row.name):
        mismatch = (
            f"the worksheet calls participant {match[2]} {row.name}. Is it from another "
            "assignment? Download the worksheet of this assignment"
        )
        return replace(upload, refused=upload.refused or mismatch)
    time = parse_moodle_time(row.modified)
    return replace(
        upload,
        person=Person(row.ids, row.email, name or None),
        late=row.late,
        time=time,
        time_source=SOURCE if time else "",
    )
