import multiprocessing
import os
import subprocess
from concurrent.futures import ProcessPoolExecutor

there = subprocess.run(["ls", "/"], capture_output=True, text=True, check=True).stdout.split()
os.system("true")
with multiprocessing.get_context("fork").Pool(2) as pool:
    roots = pool.map(abs, [-1, -2])
subprocess.Popen("while true; do sleep 0.01; done", shell=True)


def blend(weights, H):
    return np.sum(weights[..., None] * H, axis=-2)


helpers = ProcessPoolExecutor(1, multiprocessing.get_context("fork"))
helpers.submit(int).result()
