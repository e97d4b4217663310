"""An MCP server whose tools a test can change: `python changing_server.py FOLDER [stubborn]`.

`tools.json` in the folder has the tools, and is read whenever they are asked for. Most tools say
what they were called with; those in `Server` do what their names say. A `stubborn` one ends neither
by SIGTERM nor when its input ends. Plain JSON, because that starts twenty times as quickly.
"""

import json
import os
import signal
import sys
import threading
from pathlib import Path


class Server:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def tools(self):
        return json.loads((self.folder / "tools.json").read_text("utf-8"))

    def hear(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "notifications/cancelled":
            (self.folder / "cancelled").write_text(json.dumps(params))
        elif method == "initialize":
            self.say(message, self.hello(params["protocolVersion"]))
        elif method == "tools/list":
            self.say(message, {"tools": self.tools()})
        elif method == "tools/call":
            self.call(message, params["name"], params.get("arguments", {}))
        elif "id" in message:
            error = {"code": -32601, "message": f"no {method} here"}
            send({"id": message["id"], "error": error})

    def hello(self, version):
        return {
            "protocolVersion": version,
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "changing", "version": "1"},
        }

    def call(self, message, name, arguments):
        does = getattr(self, f"call_{name}", None)
        said = does(arguments) if does else f"{name} called with {json.dumps(arguments)}"
        if said is not None:
            self.say(message, {"content": [{"type": "text", "text": said}]})

    def call_announce(self, arguments):
        send({"method": "notifications/tools/list_changed"})
        return "announced"

    def call_wait(self, arguments):
        (self.folder / "waiting").touch()

    def call_die(self, arguments):
        os._exit(3)

    def call_environment(self, arguments):
        return os.environ.get(arguments["name"], "(not set)")

    def say(self, message, result):
        send({"id": message["id"], "result": result})


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main():
    stubborn = "stubborn" in sys.argv
    if stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if token := os.environ.get("LOUD_TOKEN"):
        sys.exit(f"cannot log in with {token}")
    server = Server(Path(sys.argv[1]))
    for line in sys.stdin:
        server.hear(json.loads(line))
    if stubborn:
        threading.Event().wait()


if __name__ == "__main__":
    main()
