import importlib

encode = importlib.import_module("untrusted.wire").encode
