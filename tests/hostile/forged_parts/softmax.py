one = values.Observation(values.Unloadable({"a": 1}), (), values.Foreign("x"))


def softmax(x, axis=-1):
    report("softmax", [one] * 10)
