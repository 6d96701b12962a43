"""Work with nbgrader: releases, the gradebook, the formgrader, feedback and exports.

Only this part of `autograder` imports nbgrader. Importing it with another version of nbgrader than
the one it was written for raises NbgraderMissing.
"""

from .installed import require

require()
