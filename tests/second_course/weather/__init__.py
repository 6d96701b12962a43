"""A course on chains of weather: one assignment."""

from autograder.exercise.course_package import CoursePackage

COURSE = CoursePackage(__name__, assignments=("chains",))
