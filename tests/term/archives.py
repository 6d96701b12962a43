"""Write the term's submissions as archives of Canvas, Moodle and Gradescope."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from .plan import DUE, Assignment, Student, Work

HAS_TIMES = {"canvas": False, "moodle": True, "gradescope": True}
"""Whether a platform's archive contains the time of a submission."""

WORKSHEET = (
    "Identifier",
    "Full name",
    "Email address",
    "Status",
    "Grade",
    "Maximum grade",
    "Grade can be changed",
    "Last modified (submission)",
    "Last modified (grade)",
    "Feedback comments",
)
"""The columns of Moodle's grading worksheet."""

Handed = Mapping[Student, tuple[Work, str]]
"""Student -> the work, and the text of the notebook."""


def make_archive(path: Path, assignment: Assignment, handed: Handed) -> list[str]:
    """Write the archive of an assignment, and return the arguments of `autograder collect`."""
    maker = {"canvas": _canvas, "moodle": _moodle, "gradescope": _gradescope}[assignment.platform]
    files = maker(assignment, handed)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as stream:
        for name, text in files.items():
            stream.writestr(name, text)
    if assignment.platform != "moodle":
        return []
    worksheet = path.with_suffix(".csv")
    worksheet.write_text(_worksheet(handed), encoding="utf-8")
    return ["--worksheet", str(worksheet)]


def time_of(work: Work) -> datetime:
    """Return the time at which work was handed in (UTC)."""
    return DUE + timedelta(hours=work.hours_late)


def _canvas(assignment: Assignment, handed: Handed) -> dict[str, str]:
    files = {}
    for number, (student, (work, text)) in enumerate(handed.items()):
        late = "_LATE" if work.hours_late > 0 else ""
        name = f"{student.last_name}{student.first_name}".lower()
        attachment = 90000 + number
        files[f"{name}{late}_{student.platform_id}_{attachment}_{assignment.name}.ipynb"] = text
    return files


def _moodle(assignment: Assignment, handed: Handed) -> dict[str, str]:
    return {
        f"{student.first_name} {student.last_name}_{student.number}_assignsubmission_file/"
        f"{assignment.name}.ipynb": text
        for student, (_, text) in handed.items()
    }


def _worksheet(handed: Handed) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, WORKSHEET, restval="")
    writer.writeheader()
    for student, (work, _) in handed.items():
        local = time_of(work).replace(tzinfo=UTC).astimezone()  # as this computer's zone has it
        row = {
            "Identifier": f"Participant {student.number}",
            "Full name": f"{student.first_name} {student.last_name}",
            "Email address": student.email,
            "Status": "Submitted for grading",
            "Last modified (submission)": f"{local:%A, %d %B %Y, %I:%M %p}",
        }
        writer.writerow(row)
    return text.getvalue()


def _gradescope(assignment: Assignment, handed: Handed) -> dict[str, str]:
    entries, files = {}, {}
    for student, (work, text) in handed.items():
        folder = f"submission_{student.platform_id}"
        files[f"assignment_1_export/{folder}/{assignment.name}.ipynb"] = text
        entries[folder] = {
            ":submitters": [
                {
                    ":name": f"{student.first_name} {student.last_name}",
                    ":sid": student.id,
                    ":email": student.email,
                }
            ],
            ":created_at": f"{time_of(work):%Y-%m-%d %H:%M:%S} Z",
        }
    # JSON is YAML, too.
    files["assignment_1_export/submission_metadata.yml"] = json.dumps(entries, indent=1)
    return files
