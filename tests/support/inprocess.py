"""Run workers as threads of the test's own process, with a sandbox of the test's choice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from autograder.exercise.course_package import CoursePackage
from autograder.grading import jobs
from autograder.grading import program as grading


class InProcess:
    """`number` threads that judge in an isolating `sandbox`; see grading/workers.py."""

    died = ()
    trust = False

    def __init__(self, sandbox, number=1):
        self.sandbox, self.capacity = sandbox, number
        self._pool = ThreadPoolExecutor(number)

    def describe(self, released):
        return jobs.describe(released)

    def submit(self, job):
        return self._pool.submit(self._judge, job)

    def check(self):
        pass

    def _judge(self, job):
        return grading.judge_program(
            job.program,
            CoursePackage.find(job.package)[job.assignment],
            course_key=job.course_key,
            digest=job.digest,
            sandbox=self.sandbox,
            only=job.exercises,
        )
