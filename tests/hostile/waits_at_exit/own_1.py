import atexit
import os
import threading
import time

atexit.register(time.sleep, 1000)
atexit.register(os.system, "touch /tmp/hostile-was-here")
threading.Thread(target=time.sleep, args=(1000,)).start()
