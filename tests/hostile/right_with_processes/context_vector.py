def context_vector(weights, H):
    return helpers.submit(blend, weights, H).result()
