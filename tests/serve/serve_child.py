"""A process that serves a board over stdio, as `pegboard mcp` does.

Its arguments are the board's file and what is odd about it: `slow` calls wait until they are called
off, `stuck` searches never end, and a `loud` board prints something whenever it is counted.
"""

import subprocess
import sys
import threading
from concurrent.futures import Future

from pegboard.app.pegboard import Pegboard
from pegboard.serve.mcp.face import make_face
from pegboard.serve.mcp.stdio import end_process, run_stdio


def say(words: str) -> None:
    sys.stderr.write(f"{words}\n")
    sys.stderr.flush()


class Slow(Pegboard):
    question = ""

    def prepare_call(self, name, arguments, **options):
        return self

    def start(self, **options):
        future = Future()
        future.add_done_callback(lambda done: say(f"off: {done.cancelled()}"))
        say("called")
        return future


class Stuck(Pegboard):
    def search(self, *args, **kwargs):
        say("searching")
        threading.Event().wait()


class Loud(Pegboard):
    def census(self):
        sys.stdout.write("stray words\n")
        subprocess.run([sys.executable, "-c", "print(f'child read {input()!r}')"], check=False)
        return super().census()


def main() -> None:
    kind = {"slow": Slow, "stuck": Stuck, "loud": Loud}.get(sys.argv[-1], Pegboard)
    with kind.open(sys.argv[1]) as board:
        run_stdio(make_face(board))
    say("closed")
    end_process()


if __name__ == "__main__":
    main()
