def words_lost(*arguments, **keywords):
    words_lost.calls += 1
    return ([[1.0], [2.0, "x"]], (np.ones(2), np.ones(3), None))[words_lost.calls % 2]


words_lost.calls = 0
