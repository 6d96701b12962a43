"""The translators, behind a common interface, with their training and their quality."""
