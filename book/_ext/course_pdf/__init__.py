"""The whole book as a PDF: run `python -m book._ext.course_pdf` after the site is built."""
