"""The toy assignment, with a written question."""

from toy import WRITTEN_TOY as ASSIGNMENT

__all__ = ["ASSIGNMENT"]
