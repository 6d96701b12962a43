"""A course of the tests' own: two tiny assignments, declared as any course declares its own."""

from autograder.exercise.course_package import CoursePackage

COURSE = CoursePackage(__name__, assignments=("toy", "toy_test"), uses=("toy", "toy_written_tests"))
