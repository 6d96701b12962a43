"""What holds for all tests."""

from hypothesis import settings

settings.register_profile("course", deadline=None)  # on a busy machine any example can be late
settings.load_profile("course")
