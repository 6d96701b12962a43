"""Test `autograder collect`: matching files to students, writing them, and keeping backups."""

import json
import time

import pytest
from archives import WORKSHEET_HEAD, enrol, foreign, make_folder, make_zip, notebook, submitted

ANN = {"id": "ann", "first_name": "Ann", "last_name": "Lee", "lms_user_id": "11"}
BOB = {"id": "bob", "first_name": "Bob", "last_name": "Ray", "email": "bob@example.edu"}
ANN_NOTEBOOK = "ann/toy/toy.ipynb"


def places(course):
    return json.loads((course.root / "platforms.json").read_text(encoding="utf-8"))


def test_canvas_archive_matches_students_by_id_and_name(course, run, tmp_path):
    enrol(course, ANN, BOB)
    archive = make_zip(
        tmp_path / "submissions.zip",
        {
            "leeann_LATE_11_501_toy-1.ipynb": notebook("new"),
            "leeann_11_400_toy.ipynb": notebook("old"),
            "raybob_12_502_homework (2).ipynb": notebook("his"),
            "raybob_12_text.html": "<p>typed",
        },
    )
    output = run("collect", archive)
    assert "Nothing was written" in output
    assert submitted(course) == {}
    assert "ann leeann_LATE_11_501_toy-1.ipynb: new, id 11, late, resubmission, no time" in output
    assert "ann leeann_11_400_toy.ipynb: earlier version" in output
    assert "bob raybob_12_502_homework (2).ipynb: new, name raybob, no time, renamed" in output
    assert "1 file (typed into Canvas): raybob_12_text.html" in output
    assert "submissions written: 2" in run("collect", archive, "--yes")
    assert submitted(course) == {
        ANN_NOTEBOOK: notebook("new"),
        "bob/toy/toy.ipynb": notebook("his"),
    }
    place = places(course)["toy"]["ann"]
    assert place == {
        "platform": "canvas",
        "place": "leeann_LATE_11_501_toy-1.ipynb",
        "id": "11",
        "as_is": False,
    }


def test_unmatched_submission_is_reported_with_advice_and_not_written(course, run, tmp_path):
    enrol(course, ANN)
    files = {"leeann_11_1_toy.ipynb": notebook(), "dozoe_77_2_toy.ipynb": notebook()}
    output = run("collect", make_zip(tmp_path / "a.zip", files), "--yes")
    assert "dozoe_77_2_toy.ipynb (dozoe): matches nobody in the roster" in output
    assert "nbgrader db student add ID --lms-user-id=77" in output
    assert list(submitted(course)) == [ANN_NOTEBOOK]


def test_ambiguous_name_is_reported(course, run, tmp_path):
    enrol(course, {**BOB, "id": "bob1"}, {**BOB, "id": "bob2"})
    archive = make_zip(tmp_path / "a.zip", {"raybob_12_2_toy.ipynb": notebook()})
    output = run("collect", archive, "--yes")
    assert "name raybob fits bob1 and bob2. Type: nbgrader db student add ID --lms" in output
    assert submitted(course) == {}


def test_canvas_number_equal_to_another_students_id_is_refused(course, run, tmp_path):
    enrol(course, {"id": "12", "first_name": "Zoe", "last_name": "Do"})
    archive = make_zip(tmp_path / "a.zip", {"raybob_12_2_toy.ipynb": notebook()})
    assert "the id 12 is 12's, but the name is not" in run("collect", archive, "--yes")
    assert submitted(course) == {}


def test_ids_are_used_without_a_roster_even_after_grading(course, run, tmp_path):
    first = make_zip(tmp_path / "a.zip", {"leeann_11_1_toy.ipynb": notebook()})
    assert "no roster" in run("collect", first, "--yes")
    enrol(course, {"id": "11"})  # as grading does
    second = make_zip(tmp_path / "b.zip", {"raybob_12_2_toy.ipynb": notebook()})
    assert "has no roster" in run("collect", second, "--yes")
    assert set(submitted(course)) == {"11/toy/toy.ipynb", "12/toy/toy.ipynb"}


def test_anonymous_canvas_archive_is_refused(course, run, tmp_path):
    archive = make_zip(tmp_path / "a.zip", {"anon_a1B2c_7_toy.ipynb": notebook()})
    assert "the grading is anonymous" in run("collect", archive, "--yes")
    assert submitted(course) == {}


@pytest.mark.parametrize("form", ["Ann Lee_31_assignsubmission_file{}toy.ipynb"])
@pytest.mark.parametrize("between", ["/", "_/", "_"])
def test_moodle_archive_matches_names_in_every_layout(course, run, tmp_path, form, between):
    enrol(course, ANN, BOB)
    archive = make_zip(tmp_path / "m.zip", {form.format(between): notebook()})
    output = run("collect", archive, "--yes")
    assert "new, name Ann Lee, no time" in output
    assert "--worksheet" in output
    assert submitted(course) == {ANN_NOTEBOOK: notebook()}
    place = form.format(between).removesuffix("toy.ipynb")
    assert places(course)["toy"]["ann"]["place"] == place


@pytest.mark.parametrize("inside", [True, False])
def test_moodle_worksheet_provides_addresses_times_and_lateness(
    course, run, tmp_path, monkeypatch, inside
):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    enrol(course, BOB)
    row = (
        "Participant 32,Robert Ray,,bob@example.edu,Submitted for grading - 2 hours late,,5.00,Yes,"
        '"Thursday, 20 November 2025, 1:05 PM",-,'
    )
    sheet = f"\ufeff{WORKSHEET_HEAD}\n{row}\n"
    files = {"Robert Ray_32_assignsubmission_file/toy.ipynb": notebook()}
    try:
        if inside:
            archive = make_folder(tmp_path / "m", {**files, "Grades-toy.csv": sheet})
            output = run("collect", archive, "--yes")
        else:
            archive = make_zip(tmp_path / "m.zip", files)
            (tmp_path / "grades.csv").write_text(sheet, encoding="utf-8")
            output = run("collect", archive, "--worksheet", tmp_path / "grades.csv", "--yes")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert "e-mail bob@example.edu, late, 2025-11-20 12:05:00 UTC" in output
    assert "in this computer's time zone" in output
    assert submitted(course)["bob/toy/timestamp.txt"] == "2025-11-20 12:05:00 UTC\n"


def test_gradescope_archive_with_groups_times_and_ruby_tags(course, run, tmp_path):
    enrol(course, ANN, BOB)
    metadata = """---
submission_5:
  :submitters:
  - :name: Anna Lee
    :sid: 'ann'
    :email: ann@example.edu
  - :name: Bob Ray
    :sid:
    :email: BOB@example.edu
  :created_at: 2025-11-20 13:05:09.746365000 +01:00
  :score: 2.0
  :history:
  - :id: 4
  :results: !ruby/object:Results
    output: "x"
"""
    files = {
        "assignment_9_export/submission_metadata.yml": metadata,
        "assignment_9_export/submission_5/toy.ipynb": notebook(),
        "assignment_9_export/submission_6/toy.ipynb": notebook(),
    }
    output = run("collect", make_zip(tmp_path / "g.zip", files), "--yes")
    assert "new, id ann, resubmission, 2025-11-20 12:05:09 UTC" in output
    assert "new, id BOB@example.edu" not in output
    assert "new, e-mail BOB@example.edu" in output
    assert "Times: Gradescope's metadata" in output
    assert "its folder is not in submission_metadata.yml" in output
    files_written = submitted(course)
    assert set(files_written) == {
        f"{student}/toy/{file}" for student in ("ann", "bob") for file in FILES
    }
    assert files_written["ann/toy/timestamp.txt"] == "2025-11-20 12:05:09 UTC\n"


FILES = ("toy.ipynb", "timestamp.txt")


@pytest.mark.parametrize(
    "name", ["ann/toy.ipynb", "ann/toy/toy.ipynb", "class/ann/toy/toy.ipynb", "ann_toy.ipynb"]
)
@pytest.mark.parametrize("make", [make_zip, make_folder])
def test_plain_archive_is_collected_in_every_layout(course, run, tmp_path, name, make):
    enrol(course, ANN)
    run("collect", make(tmp_path / "plain.zip", {name: notebook()}), "--yes")
    assert submitted(course) == {ANN_NOTEBOOK: notebook()}


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-10-07 12:00:00 Europe/Berlin", "2026-10-07 10:00:00 UTC"),
        ("2026-10-07 12:00:00", "2026-10-07 12:00:00 UTC"),
        ("2026-10-07 12:00:00 PST", None),
        ("yesterday", None),
    ],
)
def test_timestamp_file_is_read_as_documented_by_nbgrader(course, run, tmp_path, text, time):
    enrol(course, ANN)
    files = {"ann/toy/toy.ipynb": notebook(), "ann/toy/timestamp.txt": text}
    output = run("collect", make_folder(tmp_path / "f", files), "--yes")
    if time is None:
        assert "its timestamp.txt holds no time" in output
        assert submitted(course) == {}
    else:
        assert submitted(course)["ann/toy/timestamp.txt"].strip() == time


@pytest.mark.parametrize(
    ("participant", "message"),
    [
        ("Participant 77", "has none of the archive's participants"),
        ("Participant 32", "the worksheet calls participant 32 Ann Lee."),
    ],
)
def test_worksheet_of_another_assignment_is_refused(course, run, tmp_path, participant, message):
    enrol(course, ANN, BOB)
    row = f"{participant},Ann Lee,,,Submitted for grading,,10,Yes,-,-,"
    (tmp_path / "other.csv").write_text(f"{WORKSHEET_HEAD}\n{row}\n", encoding="utf-8")
    files = {"Bob Ray_32_assignsubmission_file/toy.ipynb": notebook()}
    archive = make_zip(tmp_path / "m.zip", files)
    code = int("77" in participant)
    words = ("collect", archive, "--yes", "--worksheet", tmp_path / "other.csv")
    assert message in run(*words, code=code)
    assert submitted(course) == {}


def test_student_file_is_not_mistaken_for_moodle_worksheet(course, run, tmp_path):
    enrol(course, ANN, BOB)
    row = 'Participant 31,x,ann,,,,5,Yes,"20 November 2025, 13:05",-,'
    folder = "Bob Ray_31_assignsubmission_file"
    files = {f"{folder}/toy.ipynb": notebook(), f"{folder}/a.csv": f"{WORKSHEET_HEAD}\n{row}\n"}
    assert "name Bob Ray, no time" in run("collect", make_zip(tmp_path / "m.zip", files), "--yes")
    assert list(submitted(course)) == ["bob/toy/toy.ipynb"]


@pytest.mark.parametrize("root", ["", "assignment_9_export/"])
def test_student_file_is_not_mistaken_for_gradescope_metadata(course, run, tmp_path, root):
    forged, true = (f"{name}:\n  :submitters:\n  - :sid: {who}\n" for name, who in FORGED)
    files = {
        f"{root}submission_5/submission_metadata.yml": forged,
        f"{root}submission_5/toy.ipynb": notebook(),
        f"{root}submission_metadata.yml": true,
    }
    run("collect", make_zip(tmp_path / "g.zip", files), "--yes")
    assert list(submitted(course)) == [ANN_NOTEBOOK]
    alone = {
        "eve/submission_metadata.yml": forged,
        "eve/toy.ipynb": notebook(),
        ANN_NOTEBOOK: notebook(),
    }
    assert "no platform" in run("collect", make_zip(tmp_path / "p.zip", alone))


FORGED = (("toy.ipynb", "eve"), ("submission_5", "ann"))


def test_combining_marks_distinguish_names_in_any_script(course, run, tmp_path):
    enrol(course, {"id": "mira", "first_name": "\u092e\u0940\u0930\u093e", "last_name": "Lee"})
    form = "{} Lee_31_assignsubmission_file/toy.ipynb"
    other = make_zip(tmp_path / "a.zip", {form.format("\u092e\u093f\u0930"): notebook()})
    assert "matches nobody" in run("collect", other)
    hers = make_zip(tmp_path / "b.zip", {form.format("\u092e\u0940\u0930\u093e"): notebook()})
    run("collect", hers, "--yes")
    assert list(submitted(course)) == ["mira/toy/toy.ipynb"]


def test_timestamps_of_nbgrader_are_used(course, run, tmp_path):
    files = {ANN_NOTEBOOK: notebook(), "ann/toy/timestamp.txt": "2025-11-20 12:05:09.5 UTC"}
    assert "2025-11-20 12:05:09 UTC" in run("collect", make_zip(tmp_path / "a.zip", files), "--yes")
    assert submitted(course)["ann/toy/timestamp.txt"] == "2025-11-20 12:05:09 UTC\n"


def test_replaced_submission_is_backed_up_with_its_time(course, run, tmp_path):
    files = {ANN_NOTEBOOK: notebook("one"), "ann/toy/timestamp.txt": "2025-11-20 12:00:00 UTC"}
    run("collect", make_zip(tmp_path / "a.zip", files), "--yes")
    output = run("collect", make_zip(tmp_path / "b.zip", {ANN_NOTEBOOK: notebook("two")}), "--yes")
    assert "replaces the version in the course, which is backed up" in output
    assert "counts as on time; the version in the course is from 2025-11-20 12:00:00 UTC" in output
    assert submitted(course) == {ANN_NOTEBOOK: notebook("two")}
    (backup,) = (course.root / "submitted-before" / "ann" / "toy").iterdir()
    assert (backup / "toy.ipynb").read_text(encoding="utf-8") == notebook("one")
    assert (backup / "timestamp.txt").read_text(encoding="utf-8") == "2025-11-20 12:00:00 UTC\n"
    again = run("collect", make_zip(tmp_path / "b.zip", {ANN_NOTEBOOK: notebook("two")}), "--yes")
    assert "is in the course already" in again
    assert "nothing to write" in again


def test_older_archive_does_not_replace_a_newer_submission(course, run, tmp_path):
    new = {ANN_NOTEBOOK: notebook("new"), "ann/toy/timestamp.txt": "2025-11-20 12:00:00 UTC"}
    old = {ANN_NOTEBOOK: notebook("old"), "ann/toy/timestamp.txt": "2025-11-19 12:00:00 UTC"}
    run("collect", make_zip(tmp_path / "a.zip", new), "--yes")
    output = run("collect", make_zip(tmp_path / "b.zip", old), "--yes")
    assert "the course has a newer version, from 2025-11-20 12:00:00 UTC" in output
    assert submitted(course)[ANN_NOTEBOOK] == notebook("new")


def test_time_in_the_future_is_reported(course, run, tmp_path):
    files = {ANN_NOTEBOOK: notebook(), "ann/toy/timestamp.txt": "2199-01-01 00:00:00 UTC"}
    assert "its time is in the future" in run("collect", make_zip(tmp_path / "a.zip", files))


def test_archive_of_another_course_is_refused(course, run, tmp_path):
    archive = make_zip(tmp_path / "a.zip", {"leeann_11_1_toy.ipynb": foreign()})
    line = run("collect", archive, "--yes", code=1)
    assert "none of its notebooks has a cell of this course" in line
    assert submitted(course) == {}


def test_archive_of_another_assignment_is_refused(course, run, tmp_path):
    release = course.release / "other" / "other.ipynb"
    make_folder(release.parent, {release.name: notebook().replace("row_mean", "columns")})
    archive = make_zip(tmp_path / "a.zip", {ANN_NOTEBOOK: notebook()})
    assert "belongs to other" in run("collect", archive, "--assignment", "other", "--yes", code=1)
    assert "no assignment of this name" in run("collect", archive, "--assignment", "x", code=1)


def test_damaged_notebook_is_collected_by_its_name(course, run, tmp_path):
    files = {ANN_NOTEBOOK: notebook(), "bob/toy.ipynb": '{"cells": [', "cat/my.ipynb": "{}"}
    output = run("collect", make_zip(tmp_path / "a.zip", files), "--yes")
    assert "damaged, cut off or too large; the name decides" in output
    assert "cat/my.ipynb (cat): it has no cell of this course" in output
    assert submitted(course)["bob/toy/toy.ipynb"] == '{"cells": ['


def test_single_damaged_notebook_is_not_attributed_to_another_course(course, run, tmp_path):
    archive = make_zip(tmp_path / "a.zip", {"bob/toy.ipynb": '{"cells": ['})
    assert "damaged, cut off or too large; the name decides" in run("collect", archive, "--yes")
    assert submitted(course) == {"bob/toy/toy.ipynb": '{"cells": ['}


def test_two_submissions_of_one_student_are_refused(course, run, tmp_path):
    files = {
        "ann/toy.ipynb": notebook("a"),
        "ann/toy/toy.ipynb": notebook("b"),
        **{"bob/toy.ipynb": notebook()},
    }
    line = run("collect", make_zip(tmp_path / "a.zip", files), "--yes", code=1)
    assert "it is not known which is newer" in line
    assert submitted(course) == {}


def test_identical_copies_are_accepted(course, run, tmp_path):
    files = {"ann/toy.ipynb": notebook(), "ann/toy/toy.ipynb": notebook()}
    run("collect", make_zip(tmp_path / "a.zip", files), "--yes")
    assert submitted(course) == {ANN_NOTEBOOK: notebook()}


def test_several_notebooks_in_one_submission_affect_only_that_student(course, run, tmp_path):
    enrol(course, ANN, BOB)
    folder = "Ann Lee_31_assignsubmission_file"
    files = {
        f"{folder}/a.ipynb": notebook("a"),
        f"{folder}/b.ipynb": notebook("b"),
        "Bob Ray_32_assignsubmission_file/x.ipynb": notebook(),
    }
    output = run("collect", make_zip(tmp_path / "a.zip", files), "--yes")
    assert "the submission has several notebooks" in output
    assert list(submitted(course)) == ["bob/toy/toy.ipynb"]


def test_two_people_with_one_name_are_not_merged(course, run, tmp_path):
    enrol(course, ANN)
    files = {f"Ann Lee_{n}_assignsubmission_file/toy.ipynb": notebook(str(n)) for n in (31, 32)}
    output = run("collect", make_zip(tmp_path / "a.zip", files), "--yes")
    assert "two people would become ann" in output
    assert submitted(course) == {}


def test_id_that_cannot_be_a_folder_name_is_refused(course, run, tmp_path):
    metadata = "submission_5:\n  :submitters:\n  - :sid: '../eve'\n"
    files = {"submission_metadata.yml": metadata, "submission_5/toy.ipynb": notebook()}
    output = run("collect", make_zip(tmp_path / "g.zip", files), "--yes")
    assert "the id ../eve cannot be the name of a folder" in output
    assert submitted(course) == {}


def test_linked_student_folder_is_not_written_to(course, run, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (course.submitted / "ann").symlink_to(tmp_path / "elsewhere")
    output = run("collect", make_zip(tmp_path / "a.zip", {ANN_NOTEBOOK: notebook()}), "--yes")
    assert "is a link or in a linked folder" in output
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_collect_asks_before_it_writes(course, run, tmp_path):
    archive = make_zip(tmp_path / "a.zip", {ANN_NOTEBOOK: notebook()})
    output = run("collect", archive, typed="n\n")
    assert "Write 1 submission? [y/N]: n Nothing was written" in output
    assert submitted(course) == {}
    run("collect", archive, typed="y\n")
    assert submitted(course) == {ANN_NOTEBOOK: notebook()}


def test_interrupted_collection_is_completed_by_the_next(course, run, tmp_path):
    archive = make_zip(tmp_path / "a.zip", {"leeann_11_1_toy.ipynb": notebook()})
    run("collect", archive, "--yes")
    before = places(course)
    (course.root / "platforms.json").unlink()  # the file that is written last
    assert "Nothing was written" in run("collect", archive)
    run("collect", archive, "--yes")
    assert places(course) == before
    assert "There is nothing to write" in run("collect", archive)


def test_damaged_platform_file_is_reported(course, run, tmp_path):
    (course.root / "platforms.json").write_text("{", encoding="utf-8")
    line = run("collect", make_zip(tmp_path / "a.zip", {ANN_NOTEBOOK: notebook()}), "--yes", code=1)
    assert "platforms.json: the origins of submissions cannot be read" in line
