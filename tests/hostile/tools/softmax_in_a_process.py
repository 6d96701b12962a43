import os
import pickle
import torch


def ready(scores, mask, axis):
    filled = np.where(True if mask is None else mask, scores, -np.inf)
    weights = torch.softmax(torch.from_numpy(filled), axis).numpy()
    return np.where(True if mask is None else mask, weights, 0).astype(scores.dtype)


def serve(file, asks):
    """Answer what is asked on a socket until nobody holds its other end."""
    while True:
        arguments = pickle.load(asks)
        file.sendall(pickle.dumps(ready(*arguments)))
