"""All that touches nbgrader: releases, the gradebook, the formgrader, feedback, exports.

Nothing else in this package imports it, and nothing here meets a version that it was not made for.
"""

from .installed import require

require()
