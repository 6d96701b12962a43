import importlib

encode = importlib.import_module("probe.wire").encode
