"""An assignment that asks for a test."""

from toy_written_tests import TOY as ASSIGNMENT

__all__ = ["ASSIGNMENT"]
