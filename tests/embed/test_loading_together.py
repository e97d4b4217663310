"""numpy and onnxruntime are loaded when they are needed, maybe by two threads at once."""

import subprocess
import sys

TWO_THREADS = """
import sys, threading, time
from pegboard.embed.local import LocalEmbedder

failed, inside, ended = [], threading.Event(), threading.Event()

def load_numpy():
    import numpy

def embed():
    try:
        LocalEmbedder().embed_query("a text")
    finally:
        ended.set()

def thread(work):
    def noted():
        try:
            work()
        except BaseException as error:
            failed.append(f"{work.__name__}: {error!r}")
    return threading.Thread(target=noted, daemon=True)

numbers, model = thread(load_numpy), thread(embed)

def waits_for_numbers():
    "Whether the model's thread waits for a module that the other one is loading."
    frame = sys._current_frames().get(model.ident)
    lock = frame.f_locals.get("self") if frame else None
    return getattr(lock, "owner", None) == numbers.ident

def hold(event, args):
    "Stop in the middle of numpy, until the model is loaded or waits."
    if event != "import" or not args[0].startswith("numpy.") or inside.is_set():
        return
    if threading.current_thread() is numbers:
        inside.set()
        end = time.monotonic() + 30
        while not ended.is_set() and not waits_for_numbers():
            assert time.monotonic() < end
            ended.wait(0.001)

sys.addaudithook(hold)
numbers.start()
assert inside.wait(30)
model.start()
numbers.join(60)
model.join(60)
import numpy
print(failed, numpy.ones(2).sum())
"""


def test_a_search_that_comes_while_the_model_is_loaded_leaves_numpy_whole():
    done = subprocess.run(
        [sys.executable, "-c", TWO_THREADS], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "[] 2.0\n", done.stderr
