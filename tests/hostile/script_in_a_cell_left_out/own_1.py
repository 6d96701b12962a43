# </pre><img src=x onerror=alert(1)>
import os

os._exit(0)
