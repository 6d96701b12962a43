"""What learning platforms give and take: archives of submissions, files of grades, feedback.

Nothing here knows nbgrader or talks to a network: an archive or a folder goes in, and a plan or the
content of a file comes out.
"""
