"""All that touches nbgrader: releases, the gradebook, the formgrader, feedback, exports."""
