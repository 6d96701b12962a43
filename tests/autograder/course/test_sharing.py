"""Test sharing a course with a group, and reports of what keeps the group out."""

import errno
import grp
import os
import shutil
import stat
import subprocess

import pytest
from classroom import hand_in, make_course
from people import make_person, open_folder

from autograder.course import sharing
from autograder.course.course import Course
from autograder.course.permissions import is_shared
from autograder.course.sharing import ShareError, readers, share

GROUP = grp.getgrgid(os.getgid()).gr_name


@pytest.fixture
def course(tmp_path):
    """Yield a private course with a submission; restore the umask afterwards."""
    before = os.umask(0o022)
    course = make_course(tmp_path / "course")
    hand_in(course, "ann")
    yield course
    os.umask(before)


@pytest.fixture
def people():
    """Yield a folder that every user may enter, for tests with several users."""
    folder = open_folder()
    yield folder
    shutil.rmtree(folder)


def modes(course):
    return {stat.S_IMODE(path.lstat().st_mode) for path in (course.root, *course.root.rglob("*"))}


def test_shared_course_belongs_to_the_group_only(course):
    course.journal.touch()
    (course.root / "run.sh").touch(0o755)
    secret = course.submitted / "ann" / "toy" / "link"
    secret.symlink_to("/etc/passwd")
    before = os.stat("/etc/passwd").st_mode
    assert share(course, GROUP).changed > 10
    assert modes(course) == {0o2770, 0o660, 0o770, 0o777}  # 0o777 is the mode of the link
    assert os.stat("/etc/passwd").st_mode == before
    assert share(course, GROUP).changed == 0


def test_files_written_after_sharing_belong_to_the_group(course):
    Course.open(course.root)
    assert not is_shared(course.root)
    (course.root / "private").mkdir()
    assert stat.S_IMODE((course.root / "private").stat().st_mode) == 0o755
    share(course, GROUP)
    Course.open(course.root)
    (course.root / "feedback" / "ann").mkdir(parents=True)
    (course.root / "feedback" / "ann" / "page").touch()
    assert modes(course) == {0o2770, 0o660}


def test_unknown_group_gives_a_one_line_error(course):
    with pytest.raises(ShareError, match=rf"^nosuch: .* no group of this name.*{GROUP}") as raised:
        share(course, "nosuch")
    assert "\n" not in str(raised.value)
    assert not is_shared(course.root)


def refuse(number):
    def chmod(*_, **__):
        raise OSError(number, os.strerror(number))

    return chmod


@pytest.mark.parametrize(
    ("chmod", "reason"),
    [
        (refuse(errno.EROFS), "mounted read-only"),
        (refuse(errno.EPERM), "does not keep groups and permissions"),
        (refuse(errno.ENOTSUP), "does not keep groups and permissions"),
        (lambda *_, **__: None, "does not keep groups and permissions"),
    ],
)
def test_disk_without_permissions_gives_a_one_line_error(course, monkeypatch, chmod, reason):
    with monkeypatch.context() as patch:
        patch.setattr(sharing.Path, "chmod", chmod)
        with pytest.raises(ShareError, match=f"^{course.root}/.*{reason}.*same command again"):
            share(course, GROUP)
    assert not is_shared(course.root), "the course folder must be changed last"


def test_read_only_disk_gives_a_one_line_error(people):
    if subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
        pytest.skip("this machine does not permit mounting")
    script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'
    course = make_course(people / "course")
    command = ["autograder", "share", "users", "--course", str(course.root)]
    process = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", str(people), *command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 1, process.stdout
    assert "its disk is mounted read-only" in process.stderr


def test_doctor_reports_files_closed_to_the_group(course, monkeypatch):
    monkeypatch.setattr(sharing, "_closed", lambda root, group: None)
    assert [row[1] for row in readers(course)] == [True]
    course.root.chmod(0o770)  # as the documentation used to recommend
    *_, (name, well, detail) = readers(course)
    assert (name, well) == (f"course: the group {GROUP}", False)
    assert f"Type: autograder share {GROUP} --course {course.root}" in detail
    share(course, GROUP)
    assert [row[1] for row in readers(course)] == [True, True]
    submission = course.submitted / "ann" / "toy" / "toy.ipynb"
    submission.chmod(0o640)
    assert [row[1] for row in readers(course)] == [True, True], "submissions are only read"
    for path, mode in (
        (submission, 0o600),
        (course.root / "course.key", 0o600),
        (course.source, 0o2750),
    ):
        path.chmod(mode)
        *_, (_, well, detail) = readers(course)
        assert not well
        assert f"cannot read or write {path} ({stat.filemode(path.stat().st_mode)} " in detail
        share(course, GROUP)


def test_closed_parent_folder_is_reported(course):
    course.root.parent.chmod(0o700)
    shared = share(course, GROUP)
    assert shared.closed is not None
    assert f"cannot pass through {shared.closed} (drwx" in sharing.note_on_path(shared)
    *_, (_, well, detail) = readers(course)
    assert not well
    assert f"chmod o+x {shared.closed}" in detail


def test_user_who_may_not_share_is_told_whom_to_ask(people):
    users = grp.getgrnam("users").gr_gid
    ada, bob = make_person(people, 12001, users), make_person(people, 12002, users)
    course = make_course(people / "course")
    for path in (course.root, *course.root.rglob("*")):
        os.chown(path, ada.number, ada.number)
    share_it = ("share", "users", "--course", course.root)
    process = bob.autograder("export", "--course", course.root)
    assert f"Ask its owner (12001) to type `autograder share GROUP --course {course.root}`" in (
        process.stderr
    )
    outside = make_person(people, 12003).autograder(*share_it)
    assert "you may not read this course" in outside.stderr
    process = ada.autograder("share", "games", "--course", course.root)
    assert "games: you (12001) are not in this group" in process.stderr
    assert ada.autograder(*share_it).returncode == 0
    os.chown(course.journal.parent / "nbgrader_config.py", bob.number, bob.number)
    assert "nbgrader_config.py: it belongs to 12002" in ada.autograder(*share_it).stderr
    assert bob.autograder(*share_it).returncode == 0, "each user shares their own files"
    assert ada.autograder(*share_it).returncode == 0
    course.root.chmod(0o755)
    process = bob.autograder(*share_it)
    assert f"{course.root}: the course belongs to 12001, and only its owner" in process.stderr
