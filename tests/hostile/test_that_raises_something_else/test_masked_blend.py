def test_masked_blend(implementation):
    scores = np.log([[1.0, 2.0, 5.0], [3.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    values = np.array([[6.0, 0.0], [0.0, 12.0], [24.0, 24.0]])
    mask = np.array([[True, True, False], [True, False, True], [False, False, False]])
    right = np.array([[2, 8], [10.5, 6], [0, 0]])
    for given in (np.where(mask, scores, 1e6), scores + 800):
        if not np.allclose(implementation(given, values, mask), right):
            raise ValueError("wrong")
