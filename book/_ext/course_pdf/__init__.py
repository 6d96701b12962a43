"""The whole book as one PDF: `python -m book._ext.course_pdf`, once the site is built."""
