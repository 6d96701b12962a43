import zipfile


def make(content, path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../../hostile-was-here", "x")
        archive.writestr("/tmp/hostile-was-here", "x")
        archive.writestr("self_attention.ipynb", bytes(10**8))
