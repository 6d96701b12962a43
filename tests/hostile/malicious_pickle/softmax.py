import os
import pickle


class Evil:
    def __reduce__(self):
        return os.system, ("touch /tmp/hostile-was-here",)


class EvilArray(np.ndarray):
    def __reduce__(self):
        return os.system, ("touch /tmp/hostile-was-here",)


def softmax(x, axis=-1):
    return [Evil(), np.zeros(2).view(EvilArray), pickle.dumps(Evil())]
