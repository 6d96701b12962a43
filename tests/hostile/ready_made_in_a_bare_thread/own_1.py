import torch, _thread, queue
