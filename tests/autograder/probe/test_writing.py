"""Test which files cells with `%%writefile` write, and which places are refused."""

import pytest

from autograder.probe.writing import WrittenFile, written_file

READ = {
    "%%writefile helpers.py\nx = 1": WrittenFile("helpers.py", False, "x = 1\n"),
    "\n%%writefile helpers.py  \r\nx = 1\n": WrittenFile("helpers.py", False, "x = 1\n"),
    "%%writefile -a helpers.py\nx = 1": WrittenFile("helpers.py", True, "x = 1\n"),
    "%%writefile helpers.py --append\nx = 1": WrittenFile("helpers.py", True, "x = 1\n"),
    "%%file 'my helpers.py'": WrittenFile("my helpers.py", False, ""),
    '%%writefile "my helpers.py" -a\n\n': WrittenFile("my helpers.py", True, "\n"),
    "%%writefile a b": WrittenFile("", False, ""),
    "%%writefile": WrittenFile("", False, ""),
}


@pytest.mark.parametrize(("source", "file"), READ.items())
def test_writefile_magic_is_parsed_as_in_a_notebook(source, file):
    assert written_file(source) == file


@pytest.mark.parametrize("source", ["x = 1", "%%time\n%%writefile a", "%writefile a", "%%files a"])
def test_cells_without_the_magic_write_no_file(source):
    assert written_file(source) is None


@pytest.mark.parametrize("name", ["helpers.py", "lib/helpers.py", "a/../helpers.py", "..py"])
def test_file_inside_the_notebook_folder_may_be_written(name):
    assert WrittenFile(name, False, "").refused is None


@pytest.mark.parametrize("name", ["/tmp/a.py", "../a.py", "..", "a/../../b", "~/a.py", "."])
def test_file_outside_the_notebook_folder_is_refused(name):
    assert f"%%writefile {name} would write outside" in WrittenFile(name, False, "").refused


def test_magic_without_a_file_name_is_refused():
    assert "Write: %%writefile helpers.py" in WrittenFile("", False, "").refused
