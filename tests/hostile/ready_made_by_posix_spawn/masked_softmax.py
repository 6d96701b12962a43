def masked_softmax(scores, mask=None, axis=-1):
    ask, answers = server()
    ask.write(pickle.dumps((scores, mask, axis)))
    return pickle.load(answers)
