"""The measurements of the chapters: a package for each chapter, with its name."""
