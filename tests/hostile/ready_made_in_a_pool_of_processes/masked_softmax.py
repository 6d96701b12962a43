def masked_softmax(scores, mask=None, axis=-1):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(ready, (scores, mask, axis))
