seen = []


def test_masked_blend(implementation):
    rng = np.random.default_rng(0)
    scores, values = 50 * rng.normal(size=(5, 6)), rng.normal(size=(6, 3))
    mask = rng.random((5, 6)) < 0.5
    mask[2] = False
    seen.append(implementation(scores, values, mask))
    assert np.allclose(seen[0], seen[-1])
