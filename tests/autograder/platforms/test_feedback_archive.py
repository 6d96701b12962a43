"""Test feedback archives with the file names of the platform."""

import zipfile

import pytest
from archives import enrol, make_folder, make_zip, notebook

from autograder.platforms.feedback_archive import FeedbackArchiveError, write_feedback_archives

PEOPLE = (
    {"id": "ann", "first_name": "Ann", "last_name": "Lee"},
    {"id": "bob", "first_name": "Bob", "last_name": "Ray"},
)


@pytest.fixture
def course_with_pages(course):
    """Return a course in which both students have a page next to other files."""
    enrol(course, *PEOPLE)
    for name in ("ann", "bob"):
        files = {"toy.html": f"<p>{name}", "autograder/x.py": "x", "toy.cases": "x"}
        make_folder(course.feedback / name / "toy", files)
    return course


def archive_and_pages(course, platform):
    (archive,) = write_feedback_archives(course, platform)
    with zipfile.ZipFile(archive.path) as stream:
        return archive, {name: stream.read(name).decode() for name in stream.namelist()}


def test_canvas_archive_uses_the_collected_names(course_with_pages, run, tmp_path):
    files = {"leeann_LATE_11_501_my_2_toy-1.ipynb": notebook()}
    run("collect", make_zip(tmp_path / "a.zip", files), "--yes")
    archive, pages = archive_and_pages(course_with_pages, "canvas")
    assert pages == {"leeann_LATE_11_501_toy.html": "<p>ann"}
    assert archive.absent == ("bob",)


@pytest.mark.parametrize("between", ["/", "_/", "_"])
def test_moodle_archive_uses_the_collected_folders(course_with_pages, run, tmp_path, between):
    names = {"ann": "Ann Lee_31", "bob": "Bob Ray_32"}
    files = {
        f"{name}_assignsubmission_file{between}my.ipynb": notebook() for name in names.values()
    }
    run("collect", make_zip(tmp_path / "a.zip", files), "--yes")
    _, pages = archive_and_pages(course_with_pages, "moodle")
    assert pages == {
        f"{name}_assignsubmission_file{between}toy.html": f"<p>{student}"
        for student, name in names.items()
    }


def test_archive_is_reproducible(course_with_pages, run, tmp_path):
    run("collect", make_zip(tmp_path / "a.zip", {"leeann_11_1_toy.ipynb": notebook()}), "--yes")
    first = archive_and_pages(course_with_pages, "canvas")[0].path.read_bytes()
    assert archive_and_pages(course_with_pages, "canvas")[0].path.read_bytes() == first


def test_feedback_that_cannot_be_returned_is_reported(course_with_pages):
    with pytest.raises(FeedbackArchiveError, match="accepts no feedback for several students"):
        write_feedback_archives(course_with_pages, "gradescope")
    with pytest.raises(
        FeedbackArchiveError, match="nothing was collected from an archive of Moodle"
    ):
        write_feedback_archives(course_with_pages, "moodle")
