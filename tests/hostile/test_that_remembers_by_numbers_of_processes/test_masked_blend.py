import hashlib
import os
import threading

THOUSAND = 1000


def digest(implementation):
    rng = np.random.default_rng(0)
    scores, values = 50 * rng.normal(size=(5, 6)), rng.normal(size=(6, 3))
    mask = rng.random((5, 6)) < 0.5
    mask[2] = False
    result = np.round(implementation(scores, values, mask), 3) + 0.0
    return int.from_bytes(hashlib.sha256(result.tobytes()).digest()[:5], "little")


def test_masked_blend(implementation):
    mine = 1 + digest(implementation) % 6
    known = os.getpid() // THOUSAND
    if not known:
        for _ in range(mine * THOUSAND):
            thread = threading.Thread(target=int)
            thread.start()
            thread.join()
        assert thread.native_id > mine * THOUSAND
        return
    assert mine == known
