import inspect


def documented(function):
    function.source = inspect.getsource(function)
    return function
