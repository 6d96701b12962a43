"""The course without the exercises that take long, for submissions that attack the grader."""

import sys
from types import ModuleType

import hostile

from autograder.exercise.course_package import CoursePackage
from autograder.exercise.model import Assignment
from exercises import COURSE as WHOLE


class _Chapter(ModuleType):
    """An assignment's package, which builds the assignment on first access."""

    @property
    def ASSIGNMENT(self) -> Assignment:
        return hostile.assignment(self.__name__.rpartition(".")[2])


for name in WHOLE:
    sys.modules[f"{__name__}.{name}"] = _Chapter(f"{__name__}.{name}")

COURSE = CoursePackage(
    __name__,
    assignments=WHOLE.assignments,
    with_torch=WHOLE.with_torch,
    uses=("hostile", *WHOLE.packages),
)
