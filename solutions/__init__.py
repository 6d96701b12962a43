"""The course's reference code: one module for each chapter, pure functions first."""
