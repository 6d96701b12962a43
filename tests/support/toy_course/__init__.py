"""A course for tests: two tiny assignments, declared as in any course."""

from autograder.exercise.course_package import CoursePackage

COURSE = CoursePackage(__name__, assignments=("toy", "toy_test"), uses=("toy", "toy_written_tests"))
