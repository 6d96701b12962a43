"""Prove an exercise: right answers pass, and wrong ones are rejected and named.

`autograder prove` runs the proof, and so do the tests of a course. Nothing here is needed to grade.
"""
