"""What a cell that begins with `%%writefile` writes, and where it may not."""

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
def test_the_magic_is_read_as_a_notebook_reads_it(source, file):
    assert written_file(source) == file


@pytest.mark.parametrize("source", ["x = 1", "%%time\n%%writefile a", "%writefile a", "%%files a"])
def test_other_cells_write_none(source):
    assert written_file(source) is None


@pytest.mark.parametrize("name", ["helpers.py", "lib/helpers.py", "a/../helpers.py", "..py"])
def test_a_file_in_the_folder_of_the_notebook_is_written(name):
    assert WrittenFile(name, False, "").refused is None


@pytest.mark.parametrize("name", ["/tmp/a.py", "../a.py", "..", "a/../../b", "~/a.py", "."])
def test_what_leads_out_is_refused_in_words(name):
    assert f"%%writefile {name} would write outside" in WrittenFile(name, False, "").refused


def test_a_magic_without_a_name_is_refused_in_words():
    assert "Write: %%writefile helpers.py" in WrittenFile("", False, "").refused
