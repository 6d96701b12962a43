"""The course's reference code: one module a chapter, pure functions first."""
