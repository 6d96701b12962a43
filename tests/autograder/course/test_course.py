"""Test the course directory: created once, validated when opened, and listed reliably."""

import os
import stat
import subprocess

import pytest
from traitlets.config.loader import PyFileConfigLoader

from autograder.course.address import AddressError
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


def test_new_course_has_folders_and_a_secret_key(course):
    assert course.source.is_dir()
    assert course.release.is_dir()
    assert course.submitted.is_dir()
    key = course.root / "course.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(course.key) == 32
    assert Course.open(course.root).key == course.key
    assert repr(course.key) not in repr(course)


@pytest.mark.parametrize("exists", [False, True])
def test_course_is_private(tmp_path, exists):
    if exists:
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


def test_git_ignores_secret_and_personal_files(course):
    for name in ("gradebook.db", "gradebook.db.1.bak", "journal.jsonl", "grades.json", "x.csv"):
        (course.root / name).touch()
    for name in ("submitted/ann", "autograded/ann", "feedback/ann", "rubrics", "release/toy"):
        (course.root / name).mkdir(parents=True)
        (course.root / name / "file").touch()
    (course.source / "toy.ipynb").touch()
    subprocess.run(["git", "init", "--quiet", course.root], check=True)
    subprocess.run(["git", "add", "."], cwd=course.root, check=True)
    process = subprocess.run(["git", "ls-files"], cwd=course.root, check=True, capture_output=True)
    expected = {".gitignore", "nbgrader_config.py", "release/toy/file", "source/toy.ipynb"}
    assert set(process.stdout.decode().split()) == expected


def test_two_courses_have_different_keys(tmp_path, course):
    assert Course.create(tmp_path / "second").key != course.key


def test_nbgrader_can_read_the_configuration(course):
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course.root)).load_config()
    assert config.CourseDirectory.root == str(course.root)
    assert config.Autograde.exporter_class.startswith("autograder.")


def test_gradebook_is_a_course_file_or_the_configured_database(course):
    assert course.gradebook_url == f"sqlite:///{course.root}/gradebook.db"
    with (course.root / "nbgrader_config.py").open("a") as stream:
        stream.write('c.CourseDirectory.db_url = "postgresql://somewhere/grades"\n')
    assert Course.open(course.root).gradebook_url == "postgresql://somewhere/grades"


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("https://example.org/course", "https://example.org/course"),
        (" https://example.org/course/ ", "https://example.org/course"),
        ("https://example.org/course/index.html?x=1#a-section", "https://example.org/course"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("https://example.org/a'b/", "https://example.org/a'b"),
        ("file:///home/ann/_build/html/index.html", "file:///home/ann/_build/html"),
        ("", None),
        (None, None),
    ],
)
def test_address_of_the_book_is_that_of_its_folder(tmp_path, typed, address):
    made = Course.create(tmp_path / "new", book=typed)
    assert made.book == Course.open(made.root).book == address
    text = (made.root / "nbgrader_config.py").read_text()
    (line,) = [line for line in text.splitlines() if "c.CoursePackage.book = " in line]
    assert line.startswith("#") == (address is None)
    (made.root / "nbgrader_config.py").write_text(text.replace("# c.Course", "c.Course"))
    assert Course.open(made.root).book == (address or "https://example.org/course")


@pytest.mark.parametrize("typed", ["example.org/course", "javascript:x", "https://", "https://[x"])
def test_what_is_not_an_address_is_reported_and_nothing_is_created(tmp_path, course, typed):
    with pytest.raises(AddressError, match="is not the address of a book"):
        Course.create(tmp_path / "new", book=typed)
    assert not (tmp_path / "new").exists()
    for value in (typed, 3):
        with (course.root / "nbgrader_config.py").open("a") as stream:
            stream.write(f"c.CoursePackage.book = {value!r}\n")
        with pytest.raises(AddressError, match=r"`c\.CoursePackage\.book` in its nbgrader_config"):
            _ = Course.open(course.root).book


def test_broken_configuration_gives_a_clear_error(course):
    (course.root / "nbgrader_config.py").write_text("c = (")
    with pytest.raises(CourseError, match=r"nbgrader_config\.py: cannot be read"):
        _ = course.gradebook_url


def test_create_never_overwrites_existing_files(tmp_path, course):
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


def test_create_in_place_of_a_file_gives_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("text")
    with pytest.raises(CourseError, match="cannot create a course here"):
        Course.create(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "text"


def test_path_that_is_not_a_course_is_refused(tmp_path):
    (tmp_path / "file").write_text("text")
    for name in ("absent", "file", "."):
        with pytest.raises(CourseError, match=r"not a course directory.*init"):
            Course.open(tmp_path / name)


def test_damaged_key_is_refused(course):
    (course.root / "course.key").write_bytes(course.key[:-1])
    with pytest.raises(CourseError, match="31 bytes, not 32"):
        Course.open(course.root)


def test_submissions_are_sorted_and_may_lack_a_notebook(course):
    submit(course, "zoe")
    submit(course, "ann", content=None)
    submit(course, "ann", "toy_test")
    submit(course, "ann", "of-another-course")
    (course.submitted / "README").write_text("no student")
    files = [(file.student, file.assignment, file.path) for file in course.submissions()]
    assert files == [
        ("ann", "toy", course.submitted / "ann/toy/toy.ipynb"),
        ("ann", "toy_test", course.submitted / "ann/toy_test/toy_test.ipynb"),
        ("zoe", "toy", course.submitted / "zoe/toy/toy.ipynb"),
    ]
    assert [file.student for file in course.submissions(["toy"], ["zoe"])] == ["zoe"]


@pytest.mark.parametrize(("assignments", "students"), [(["../toy"], None), (None, ["../ann"])])
def test_invalid_name_gives_a_clear_error(course, assignments, students):
    submit(course, "ann")
    with pytest.raises(CourseError, match=r"\.\./"):
        course.submissions(assignments, students)


def test_undecodable_name_is_escaped_and_listed(course):
    submit(course, "ann")
    folder = os.path.join(os.fsencode(course.submitted), b"b\xff")
    os.makedirs(os.path.join(folder, b"toy"))
    students = [file.student for file in course.submissions()]
    assert students == ["ann", "b\\xff"]
    "".join(students).encode()


def test_html_in_a_name_is_escaped(course):
    submit(course, "<img src=x>")
    submit(course, "o'brien")
    assert [file.student for file in course.submissions()] == ["\\x3cimg src=x\\x3e", "o'brien"]


def test_odd_names_stay_distinct_and_fit_into_a_path(course):
    for name in ("a<b", "a\\x3cb", "new\nline", "[abc]", "é" * 120, "é" * 119 + "e"):
        submit(course, name)
    students = [file.student for file in course.submissions()]
    assert len(set(students)) == 6
    assert all(student.isprintable() and len(student.encode()) <= 120 for student in students)
    assert not any(char in student for student in students for char in "[]*?\n")


LONG = ["<" * 255, "<" * 254 + ">", "\U0001f600" * 60 + "<" * 15, "\u4e2d" * 80 + "?" * 15]
LONG += ["\u4e2d" * 80 + "?" * 14 + "*", "\u200b" * 85, "\u200b" * 84 + "\u200c"]


def test_longest_names_stay_distinct_and_become_folders(course):
    for name in LONG:
        assert 240 <= len(name.encode()) <= 255
        submit(course, name)
    students = {file.student for file in course.submissions()}
    assert len(students) == len(LONG)
    for student in students:
        assert len(student.encode()) <= 120
        (course.autograded / student).mkdir(parents=True)


@pytest.mark.parametrize("name", LONG, ids=range(len(LONG)))
def test_shortened_name_cannot_collide_with_another_student(course, name):
    submit(course, name)
    (first,) = (file.student for file in course.submissions())
    try:
        submit(course, first)
    except OSError as error:
        pytest.fail(f"{first}: {error}")
    assert len({file.student for file in course.submissions()}) == 2


def _unlistable(monkeypatch, name):
    """Make listing the folder `name` fail, even for root."""
    real = os.listdir

    def listdir(path="."):
        if os.path.basename(path) == name:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)


def test_unlistable_folder_counts_for_assignments_of_other_students(course, monkeypatch):
    _unlistable(monkeypatch, "ann")
    (course.submitted / "ann").mkdir()
    assert course.submissions() == []
    assert [file.assignment for file in course.submissions(["toy_test"])] == ["toy_test"]
    submit(course, "bob")
    assert [(file.student, file.assignment) for file in course.submissions()] == [
        ("ann", "toy"),
        ("bob", "toy"),
    ]
    assert [file.assignment for file in course.submissions(None, ["ann"])] == ["toy"]


def test_ignored_files_are_reported_with_the_reason(course):
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


def test_lookalike_names_are_reported(course):
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
    groups = sorted(line.split(": ", 1)[1] for line in lookalikes(course))
    assert [line.split(" ")[0] for line in groups] == ["2", "2", "3"]
    assert "'Anna', 'Anna '" in groups[0]
    assert r"'Jose\u0301', 'Jos\xe9'" in groups[1]


def test_missing_submitted_folder_is_reported(course):
    course.submitted.rmdir()
    with pytest.raises(CourseError, match="cannot be listed"):
        course.submissions()
