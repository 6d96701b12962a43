"""What the chapters measure: a package a chapter, under the chapter's name."""
