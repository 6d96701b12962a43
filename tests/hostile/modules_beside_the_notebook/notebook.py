EVIL = "open('/tmp/hostile-was-here', 'w').close()\nraise SystemExit\n"


def make(content, path):
    names = ("numpy", "torch", "sitecustomize", "usercustomize", "autograder", "conftest")
    for name in (*names, "copy", "json", "random"):
        for folder in (path.parent, path.parent.parent):
            (folder / f"{name}.py").write_text(EVIL)
    (path.parent / "numpy").mkdir()
    (path.parent / "numpy" / "__init__.py").write_text(EVIL)
    (path.parent / "evil.pth").write_text("import os; os.system('touch /tmp/hostile-was-here')")
    return content
