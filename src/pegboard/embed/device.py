"""Where the packaged model runs: on a GPU that onnxruntime can use, or on the CPU."""

from pegboard.errors import ConfigError, ModelUnavailable

CPU = "CPUExecutionProvider"
GPUS = (
    "CUDAExecutionProvider",
    "MIGraphXExecutionProvider",
    "ROCMExecutionProvider",
    "DmlExecutionProvider",
)
"""Best first. CoreML is not among them: every Mac offers it, and it chooses for itself where."""


def check_device(device: str) -> None:
    """Asking for a GPU loads onnxruntime, to see at once whether it can use any."""
    if device not in ("auto", "cpu", "gpu"):
        raise ConfigError(f"there is no device {device!r}", "use device auto, cpu or gpu")
    if device == "gpu":
        try:
            chosen_for(device)
        except ModelUnavailable as error:
            raise ConfigError(error.message, error.hint) from None
        except ImportError:
            return  # loading the model will say what is missing


def load_onnxruntime() -> None:
    """numpy as a whole goes before, which onnxruntime enters by an inner module.

    If another thread loads numpy at that time, each waits for the other; Python then shows one of
    them a module that is half loaded, and numpy works no more in this process.
    """
    import numpy  # noqa: F401
    import onnxruntime  # noqa: F401


def chosen_for(device: str) -> str:
    load_onnxruntime()
    import onnxruntime

    offered: list[str] = onnxruntime.get_available_providers()
    found = [gpu for gpu in GPUS if gpu in offered]
    if device == "gpu" and not found:
        raise ModelUnavailable(
            f"device is 'gpu', and onnxruntime offers only {', '.join(offered)}",
            "install onnxruntime-gpu in place of onnxruntime, or use device auto or cpu",
        )
    return found[0] if found and device != "cpu" else CPU
