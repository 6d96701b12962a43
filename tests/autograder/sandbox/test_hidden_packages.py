"""What nobody may read is hidden in the sandbox, where it is installed beside what all may."""

import pytest
import toy

from autograder.grading.program import judge_program
from autograder.sandbox.backends import open_sandbox


def found(packages):
    """Whether an answer can import `rich`, which is installed as a course package may be."""
    source = (
        "def row_mean(X):\n"
        "    import importlib.util\n"
        "    found = importlib.util.find_spec('rich.table') is not None\n"
        "    raise LookupError(f'found: {found}')"
    )
    sandbox = open_sandbox(packages=packages)
    try:
        judgement = judge_program(
            toy.program(source), toy.TOY, course_key=b"key", digest="a", sandbox=sandbox
        )["row_mean"]
    finally:
        sandbox.close()
    return judgement.message


@pytest.mark.parametrize(("packages", "there"), [((), True), (("rich",), False)])
def test_a_package_of_the_course_cannot_be_imported(packages, there):
    assert f"LookupError: found: {there}" in found(packages)
