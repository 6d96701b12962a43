one = values.Observation(values.Differentiated(1.0, {"argument 1": "x"}), (), 1)


def softmax(x, axis=-1):
    report("softmax", [one] * 10)
