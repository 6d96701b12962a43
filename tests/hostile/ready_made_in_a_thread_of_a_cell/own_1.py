import _thread
import queue

asked, answered = queue.Queue(), queue.Queue()


def serve():
    norm = nn.functional.layer_norm
    while True:
        X, weight, bias, eps = asked.get()
        answered.put(norm(X, X.shape[-1:], weight, bias, eps))


_thread.start_new_thread(serve, ())
