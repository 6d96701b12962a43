"""The experiments of chapter 13."""
