import multiprocessing
import os
import subprocess
from concurrent.futures import ProcessPoolExecutor

there = subprocess.run(["ls", "/"], capture_output=True, text=True, check=True).stdout.split()
os.system("true")
with multiprocessing.get_context("fork").Pool(2) as pool:
    roots = pool.map(abs, [-1, -2])
subprocess.Popen("while true; do sleep 0.01; done", shell=True)


def score(s, H, W_s, W_h, v):
    return np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v


helpers = ProcessPoolExecutor(1, multiprocessing.get_context("fork"))
helpers.submit(int).result()
