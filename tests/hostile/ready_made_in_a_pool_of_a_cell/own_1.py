from concurrent.futures import ThreadPoolExecutor
import torch

pool = ThreadPoolExecutor(1)
pool.submit(int).result()
