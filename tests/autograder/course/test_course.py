"""The course directory: made once, opened only if it is one, listed without surprises."""

import os
import stat
import subprocess

import pytest
from traitlets.config.loader import PyFileConfigLoader

from autograder.course.course import Course, CourseError
from autograder.course.overlooked import (
    BESIDE,
    BROKEN,
    HIDDEN,
    LOOSE,
    UNKNOWN,
    lookalikes,
    overlooked,
)


@pytest.fixture
def course(tmp_path):
    return Course.create(tmp_path / "course", "toy_course")


def submit(course, student, assignment="toy", content="{}"):
    folder = course.submitted / student / assignment
    folder.mkdir(parents=True)
    if content is not None:
        (folder / f"{assignment}.ipynb").write_text(content)


def test_a_new_course_has_its_folders_and_a_secret_key(course):
    assert course.source.is_dir()
    assert course.release.is_dir()
    assert course.submitted.is_dir()
    key = course.root / "course.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(course.key) == 32
    assert Course.open(course.root).key == course.key
    assert repr(course.key) not in repr(course)


@pytest.mark.parametrize("there", [False, True])
def test_no_other_user_may_open_a_course(tmp_path, there):
    if there:
        (tmp_path / "open").mkdir(mode=0o755)
    before = os.umask(0)
    try:
        course = Course.create(tmp_path / "open")
    finally:
        os.umask(before)
    assert course.mode == "drwx------"
    assert course.private
    course.root.chmod(0o750)
    assert course.private
    course.root.chmod(0o751)
    assert not course.private


def test_git_takes_nothing_from_a_course_that_is_secret_or_personal(course):
    for name in ("gradebook.db", "gradebook.db.1.bak", "journal.jsonl", "grades.json", "x.csv"):
        (course.root / name).touch()
    for name in ("submitted/ann", "autograded/ann", "feedback/ann", "rubrics", "release/toy"):
        (course.root / name).mkdir(parents=True)
        (course.root / name / "file").touch()
    (course.source / "toy.ipynb").touch()
    subprocess.run(["git", "init", "--quiet", course.root], check=True)
    subprocess.run(["git", "add", "."], cwd=course.root, check=True)
    done = subprocess.run(["git", "ls-files"], cwd=course.root, check=True, capture_output=True)
    expected = {".gitignore", "nbgrader_config.py", "release/toy/file", "source/toy.ipynb"}
    assert set(done.stdout.decode().split()) == expected


def test_two_courses_have_different_keys(tmp_path, course):
    assert Course.create(tmp_path / "second").key != course.key


def test_nbgrader_reads_the_configuration(course):
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course.root)).load_config()
    assert config.CourseDirectory.root == str(course.root)
    assert config.Autograde.exporter_class.startswith("autograder.")


def test_the_gradebook_is_a_file_of_the_course_or_what_nbgrader_is_told(course):
    assert course.gradebook_url == f"sqlite:///{course.root}/gradebook.db"
    with (course.root / "nbgrader_config.py").open("a") as stream:
        stream.write('c.CourseDirectory.db_url = "postgresql://somewhere/grades"\n')
    assert Course.open(course.root).gradebook_url == "postgresql://somewhere/grades"


def test_a_broken_configuration_is_one_clear_error(course):
    (course.root / "nbgrader_config.py").write_text("c = (")
    with pytest.raises(CourseError, match=r"nbgrader_config\.py: cannot be read"):
        _ = course.gradebook_url


def test_create_loses_nothing_that_is_there(tmp_path, course):
    before = sorted(course.root.rglob("*"))
    with pytest.raises(CourseError, match="a course directory already"):
        Course.create(course.root)
    assert sorted(course.root.rglob("*")) == before
    assert Course.open(course.root).key == course.key
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "text.md").write_text("years of work")
    with pytest.raises(CourseError, match="not empty"):
        Course.create(tmp_path / "thesis")
    assert os.listdir(tmp_path / "thesis") == ["text.md"]


def test_create_where_a_file_stands_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("text")
    with pytest.raises(CourseError, match="cannot create a course here"):
        Course.create(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "text"


def test_what_is_no_course_is_not_opened(tmp_path):
    (tmp_path / "file").write_text("text")
    for name in ("absent", "file", "."):
        with pytest.raises(CourseError, match=r"not a course directory.*init"):
            Course.open(tmp_path / name)


def test_a_damaged_key_is_not_used(course):
    (course.root / "course.key").write_bytes(course.key[:-1])
    with pytest.raises(CourseError, match="31 bytes, not 32"):
        Course.open(course.root)


def test_submissions_are_sorted_and_count_without_a_notebook(course):
    submit(course, "zoe")
    submit(course, "ann", content=None)
    submit(course, "ann", "toy_test")
    submit(course, "ann", "of-another-course")
    (course.submitted / "README").write_text("no student")
    found = [(one.student, one.assignment, one.path) for one in course.submissions()]
    assert found == [
        ("ann", "toy", course.submitted / "ann/toy/toy.ipynb"),
        ("ann", "toy_test", course.submitted / "ann/toy_test/toy_test.ipynb"),
        ("zoe", "toy", course.submitted / "zoe/toy/toy.ipynb"),
    ]
    assert [one.student for one in course.submissions(["toy"], ["zoe"])] == ["zoe"]


@pytest.mark.parametrize(("assignments", "students"), [(["../toy"], None), (None, ["../ann"])])
def test_an_unknown_name_is_one_clear_error(course, assignments, students):
    submit(course, "ann")
    with pytest.raises(CourseError, match=r"\.\./"):
        course.submissions(assignments, students)


def test_a_name_that_is_no_text_is_escaped_and_still_listed(course):
    submit(course, "ann")
    folder = os.path.join(os.fsencode(course.submitted), b"b\xff")
    os.makedirs(os.path.join(folder, b"toy"))
    students = [one.student for one in course.submissions()]
    assert students == ["ann", "b\\xff"]
    "".join(students).encode()


def test_a_name_that_would_be_html_in_nbgraders_pages_is_escaped(course):
    submit(course, "<img src=x>")
    submit(course, "o'brien")
    assert [one.student for one in course.submissions()] == ["\\x3cimg src=x\\x3e", "o'brien"]


def test_odd_names_are_told_apart_and_fit_into_a_path(course):
    for name in ("a<b", "a\\x3cb", "new\nline", "[abc]", "é" * 120, "é" * 119 + "e"):
        submit(course, name)
    students = [one.student for one in course.submissions()]
    assert len(set(students)) == 6
    assert all(student.isprintable() and len(student.encode()) <= 120 for student in students)
    assert not any(char in student for student in students for char in "[]*?\n")


LONG = ["<" * 255, "<" * 254 + ">", "\U0001f600" * 60 + "<" * 15, "\u4e2d" * 80 + "?" * 15]
LONG += ["\u4e2d" * 80 + "?" * 14 + "*", "\u200b" * 85, "\u200b" * 84 + "\u200c"]


def test_the_longest_names_become_folders_and_are_told_apart(course):
    for name in LONG:
        assert 240 <= len(name.encode()) <= 255
        submit(course, name)
    students = {one.student for one in course.submissions()}
    assert len(students) == len(LONG)
    for student in students:
        assert len(student.encode()) <= 120
        (course.autograded / student).mkdir(parents=True)


@pytest.mark.parametrize("name", LONG, ids=range(len(LONG)))
def test_nobody_can_take_the_name_that_a_long_one_gets(course, name):
    submit(course, name)
    (first,) = (one.student for one in course.submissions())
    try:
        submit(course, first)
    except OSError as error:
        pytest.fail(f"{first}: {error}")
    assert len({one.student for one in course.submissions()}) == 2


def _unlistable(monkeypatch, name):
    """Let nobody list the folder of this name, not even root."""
    real = os.listdir

    def listdir(path="."):
        if os.path.basename(path) == name:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)


def test_a_folder_that_cannot_be_listed_counts_for_what_others_have_handed_in(course, monkeypatch):
    _unlistable(monkeypatch, "ann")
    (course.submitted / "ann").mkdir()
    assert course.submissions() == []
    assert [one.assignment for one in course.submissions(["toy_test"])] == ["toy_test"]
    submit(course, "bob")
    assert [(one.student, one.assignment) for one in course.submissions()] == [
        ("ann", "toy"),
        ("bob", "toy"),
    ]
    assert [one.assignment for one in course.submissions(None, ["ann"])] == ["toy"]


def test_what_looks_like_work_and_counts_as_none_is_named_with_the_reason(course):
    submit(course, "ann")
    submit(course, "bob", "toys")
    submit(course, "bob", "of-another-course", content=None)
    submit(course, ".cay")
    (course.submitted / ".git").mkdir()
    (course.submitted / "README").write_text("")
    assert not any("ann" in line for line in overlooked(course))
    for number in range(10):
        (course.submitted / f"{number}\n.zip").write_text("")
    (course.submitted / "ann" / "toy.ipynb").write_text("{}")
    (course.source / "mine").mkdir()
    submit(course, "ann", "mine")
    (course.submitted / "dan").symlink_to("x" * 300)
    (course.submitted / "eve").symlink_to("eve")
    by_reason = dict(line.rpartition(": ")[::-2] for line in overlooked(course))
    places = {reason: line.rpartition(": ")[2] for reason, line in by_reason.items()}
    assert places == {
        f"{HIDDEN}.": ".cay",
        f"{BESIDE}.": "ann/toy.ipynb",
        f"{BROKEN}.": "dan, eve",
        f"{UNKNOWN}.": "bob/toys",
        f"{LOOSE}.": ", ".join(f"{number}\\u000a.zip" for number in range(8)) + " and 2 more",
    }


def test_names_that_look_alike_are_named(course):
    for name in (
        "José",
        "Jose\u0301",
        "\u00c5",
        "A\u030a",
        "\u212b",
        "Anna",
        "Anna ",
        "anna",
        "Ben",
    ):
        submit(course, name)
    found = sorted(line.split(": ", 1)[1] for line in lookalikes(course))
    assert [line.split(" ")[0] for line in found] == ["2", "2", "3"]
    assert "'Anna', 'Anna '" in found[0]
    assert r"'Jose\u0301', 'Jos\xe9'" in found[1]


def test_a_course_without_the_folder_submitted_says_so(course):
    course.submitted.rmdir()
    with pytest.raises(CourseError, match="cannot be listed"):
        course.submissions()
