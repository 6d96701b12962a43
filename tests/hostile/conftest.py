"""Keep pytest from collecting the corpus, in which some files are called test_..."""

collect_ignore_glob = ["*/*"]
