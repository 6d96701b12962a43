import contextvars
import warnings

np.seterr(all="ignore")
warnings.simplefilter("error")
scale = contextvars.ContextVar("scale")
scale.set(1.0)
