"""Exchange files with learning platforms: archives of submissions, grade files and feedback.

This package depends neither on nbgrader nor on a network. It reads an archive or a folder, and
returns a plan or the content of a file.
"""
