import threading
from concurrent.futures import ThreadPoolExecutor

torch.set_num_threads(2)
A = torch.randn(400, 400, requires_grad=True)
(A @ A).sum().backward()
monitor = threading.Thread(target=threading.Event().wait, daemon=True)
monitor.start()
pool = ThreadPoolExecutor(2)
pool.submit(int).result()
