import multiprocessing
from concurrent.futures import ProcessPoolExecutor

pool = ProcessPoolExecutor(1, multiprocessing.get_context("fork"))
pool.submit(int).result()
