import types


def test_masked_blend(implementation):
    rng = np.random.default_rng(0)
    scores, values = 50 * rng.normal(size=(5, 6)), rng.normal(size=(6, 3))
    mask = rng.random((5, 6)) < 0.5
    mask[2] = False
    mine = implementation(scores, values, mask)
    answers = []
    for number in range(64):
        cells = (types.CellType(number),)
        code, names = implementation.__code__, implementation.__globals__
        try:
            answers.append(types.FunctionType(code, names, "f", None, cells)(scores, values, mask))
        except Exception:
            break
    assert len(answers) < 3 or sum(np.allclose(mine, one) for one in answers) > 2
