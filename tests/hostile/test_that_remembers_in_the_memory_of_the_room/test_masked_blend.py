import ctypes

kernel = ctypes.CDLL(None)
kernel.sbrk.restype = ctypes.c_void_p
SIZE = 2**20


def test_masked_blend(implementation):
    note = "-".join(["there", "was", "somebody", "here"]).encode()
    found = note in ctypes.string_at(kernel.sbrk(0) - SIZE, SIZE)
    implementation(np.zeros((1, 2)), np.ones((2, 1)), np.ones((1, 2), bool))
    print(note.decode() * 1000, flush=True)
    assert not found
