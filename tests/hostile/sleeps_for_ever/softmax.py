import time


def softmax(x, axis=-1):
    while True:
        time.sleep(10**6)
