def masked_softmax(scores, mask=None, axis=-1):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, pickle.dumps(ready(scores, mask, axis)))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        result = pickle.load(file)
    os.waitpid(child, 0)
    return result
