import os
import tempfile


def test_masked_blend(implementation):
    implementation(np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 1), dtype=bool))
    count = 0
    for folder in (tempfile.gettempdir(), "/tmp", "/dev/shm", os.getcwd(), "/var/tmp"):
        try:
            with open(os.path.join(folder, "calls"), "a+") as file:
                file.write("x")
            count = max(count, os.path.getsize(os.path.join(folder, "calls")))
        except OSError:
            pass
    assert count < 3
