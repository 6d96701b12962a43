"""Test that the sandbox hides course packages among the installed packages."""

import pytest
import toy

from autograder.grading.program import judge_program
from autograder.sandbox.backends import open_sandbox


def import_report(packages):
    """Return the message of an answer that tries to import `rich`, in place of a course package."""
    source = (
        "def row_mean(X):\n"
        "    import importlib.util\n"
        "    importable = importlib.util.find_spec('rich.table') is not None\n"
        "    raise LookupError(f'importable: {importable}')"
    )
    sandbox = open_sandbox(packages=packages)
    try:
        judgement = judge_program(
            toy.program(source), toy.TOY, course_key=b"key", digest="a", sandbox=sandbox
        )["row_mean"]
    finally:
        sandbox.close()
    return judgement.message


@pytest.mark.parametrize(("packages", "importable"), [((), True), (("rich",), False)])
def test_course_package_cannot_be_imported_in_the_sandbox(packages, importable):
    assert f"LookupError: importable: {importable}" in import_report(packages)
