"""The course of the tests of commands: two students have handed in, one with a wrong mean."""

from pathlib import Path

import classroom
import pytest
from classroom import MEAN_SUM, hand_in, make_course


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    classroom.known_everywhere(monkeypatch)
    course: Path = make_course(tmp_path / "course")
    hand_in(course, "ann")
    hand_in(course, "bob", mean=MEAN_SUM)
    return course
