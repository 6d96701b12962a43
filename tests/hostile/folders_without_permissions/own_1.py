import os

for folder in ("/desk", "/tmp", "/dev/shm"):
    os.chmod(folder, 0)
    assert os.stat(folder).st_mode & 0o777 == 0
