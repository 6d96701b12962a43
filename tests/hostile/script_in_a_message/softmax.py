def softmax(x, axis=-1):
    kind = type("<script>alert(1)</script>", (ValueError,), {})
    raise kind("<img src=x onerror=alert(1)> [a](javascript:alert(1)) **b** `c` $x$ <iframe src=x>")
