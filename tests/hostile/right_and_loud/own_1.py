import logging
import sys
import warnings

warnings.warn("this answer is right, and loud about it", stacklevel=1)
logging.getLogger().error("an error that is none")
print("DEBUG", file=sys.stderr)
