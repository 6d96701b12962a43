"""The exercise that CONTRIBUTING.md shows is short; `test_exercises` proves it with the others."""

import inspect

from smallest import CODE, SMALLEST, row_mean


def test_it_is_short_and_says_what_the_student_reads():
    assert len(CODE.splitlines()) <= 40
    assert f'# "{inspect.getdoc(row_mean)}"' in CODE
    assert SMALLEST.reference is row_mean
