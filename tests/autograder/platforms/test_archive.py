"""Test that an archive with anything unsafe is refused as a whole, in a one-line error."""

import os
import stat
import struct
import zipfile

import pytest
from archives import make_folder, make_zip, notebook, submitted

from autograder.platforms import archive
from autograder.platforms.archive import ArchiveError, open_archive


def read_all(path):
    with open_archive(path) as opened:
        return {name: opened.read(name) for name in opened.sizes}


def refusal_of(path):
    with pytest.raises(ArchiveError) as caught:
        read_all(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../ann/toy.ipynb", "leads out of the archive"),
        ("ann/../../toy.ipynb", "leads out of the archive"),
        ("ann\\..\\..\\toy.ipynb", "leads out of the archive"),
        ("/etc/toy.ipynb", "absolute path"),
        ("C:\\toy.ipynb", "absolute path"),
        ("ann/a\x1b[2Jtoy.ipynb", "control characters"),
        ("ann/a\ntoy.ipynb", "control characters"),
    ],
)
def test_unsafe_names_are_refused(tmp_path, name, reason):
    message = refusal_of(make_zip(tmp_path / "a.zip", {name: notebook()}))
    assert reason in message
    assert "\x1b" not in message


def test_unsafe_archive_writes_nothing(course, run, tmp_path):
    files = {"bob/toy.ipynb": notebook(), "../ann/toy.ipynb": notebook()}
    line = run("collect", make_zip(tmp_path / "a.zip", files), "--yes", code=1)
    assert "leads out of the archive" in line
    assert submitted(course) == {}


def test_links_are_refused(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as stream:
        entry = zipfile.ZipInfo("ann/toy.ipynb")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        stream.writestr(entry, "/etc/passwd")
    assert "is a link" in refusal_of(path)
    folder = make_folder(tmp_path / "folder", {"ann/toy.ipynb": notebook()})
    (folder / "bob").symlink_to(folder / "ann")
    assert "bob is a link" in refusal_of(folder)


def test_devices_are_not_opened(tmp_path):
    folder = make_folder(tmp_path / "folder", {"ann/toy.ipynb": notebook()})
    os.mkfifo(folder / "ann" / "pipe.ipynb")
    assert "is a link or a device" in refusal_of(folder)
    os.mkfifo(tmp_path / "pipe.zip")
    assert "no such file or folder" in refusal_of(tmp_path / "pipe.zip")


def test_zip_bombs_are_refused(tmp_path, monkeypatch):
    path = make_zip(tmp_path / "a.zip", {"ann/toy.ipynb": "0" * 300_000})
    with open_archive(path) as opened:
        assert len(opened.read("ann/toy.ipynb")) == 300_000
    monkeypatch.setattr(archive, "NO_BOMB", 100_000)
    assert "200 times its size" in refusal_of(path)
    many = make_zip(tmp_path / "b.zip", {f"s{n}/toy.ipynb": notebook() for n in range(5)})
    monkeypatch.setattr(archive, "LARGEST_TOTAL", 4 * len(notebook()))
    assert "in total" in refusal_of(many)
    monkeypatch.setattr(archive, "MOST_ENTRIES", 4)
    assert "more than 4 files" in refusal_of(many)


def test_oversized_notebook_does_not_affect_other_students(course, run, tmp_path, monkeypatch):
    from autograder.platforms import plan

    files = {"ann/toy.ipynb": notebook(), "bob/toy.ipynb": notebook("x" * 9999)}
    monkeypatch.setattr(plan, "LARGEST_FILE", len(notebook()) + 100)
    monkeypatch.setattr(archive, "LARGEST_FILE", len(notebook()) + 100)
    assert "bob/toy.ipynb (bob): it is larger" in run(
        "collect", make_zip(tmp_path / "a.zip", files), "--yes"
    )
    assert list(submitted(course)) == ["ann/toy/toy.ipynb"]


def test_duplicate_names_are_refused(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as stream:
        stream.writestr("ann/toy.ipynb", notebook("a"))
        with pytest.warns(UserWarning, match="Duplicate"):
            stream.writestr("ann/toy.ipynb", notebook("b"))
    assert "two files with the name ann/toy.ipynb" in refusal_of(path)


def test_encrypted_archive_is_refused(tmp_path):
    path = make_zip(tmp_path / "a.zip", {"ann/toy.ipynb": notebook()})
    data = bytearray(path.read_bytes())
    central = data.rindex(b"PK\x01\x02")
    struct.pack_into("<H", data, central + 8, 1)
    path.write_bytes(data)
    assert "ann/toy.ipynb is encrypted" in refusal_of(path)


@pytest.mark.parametrize("cut", [30, -30])
def test_truncated_archive_is_refused(tmp_path, cut):
    path = make_zip(tmp_path / "a.zip", {"ann/toy.ipynb": notebook()})
    path.write_bytes(path.read_bytes()[:cut])
    assert "not a zip, or the zip is damaged" in refusal_of(path)


def test_damaged_entry_is_refused(tmp_path):
    path = make_zip(tmp_path / "a.zip", {"ann/toy.ipynb": notebook()})
    data = bytearray(path.read_bytes())
    data[60:120] = bytes(60)
    path.write_bytes(data)
    assert "ann/toy.ipynb is damaged" in refusal_of(path)


def test_files_added_by_operating_systems_are_ignored(tmp_path):
    files = {
        "ann/toy.ipynb": notebook(),
        "__MACOSX/ann/._toy.ipynb": "x",
        "ann/.ipynb_checkpoints/toy-checkpoint.ipynb": notebook(),
        ".DS_Store": "x",
    }
    with open_archive(make_zip(tmp_path / "a.zip", files)) as opened:
        assert list(opened.sizes) == ["ann/toy.ipynb"]
