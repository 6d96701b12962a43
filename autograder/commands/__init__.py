"""The commands of the command line, one module for each group; `autograder/cli.py` lists them."""
