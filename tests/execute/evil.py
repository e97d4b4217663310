"""Servers that misbehave: `python evil.py BEHAVIOUR`. Plain JSON, so that the worst can be said."""

import json
import os
import signal
import subprocess
import sys
import time

MEGABYTE = "x" * (1 << 20)
OPEN = {"type": "object"}


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def complain(text):
    sys.stderr.write(text)
    sys.stderr.flush()


def text(said):
    return {"content": [{"type": "text", "text": said}]}


def tool(name, **fields):
    return {"name": name, "description": f"It is {name}.", "inputSchema": OPEN} | fields


class Server:
    """A well-behaved server with the tool `echo`; the others change what they need to."""

    def __init__(self):
        self.tools = [tool("echo"), tool("cancelled")]
        self.cancelled = []

    def serve(self):
        for line in sys.stdin:
            self.hear(json.loads(line))

    def hear(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "notifications/cancelled":
            self.cancelled.append(params)
        if "id" not in message or method is None:
            return
        answer = self.answer(method, params)
        if answer is not None:
            say({"id": message["id"], **answer})

    def answer(self, method, params):
        if method == "initialize":
            return {"result": self.hello()}
        if method == "tools/list":
            return {"result": self.page(params.get("cursor"))}
        if method == "tools/call":
            called = getattr(self, f"call_{params['name']}", None)
            result = called(params.get("arguments", {}), params) if called else text("done")
            return None if result is None else result if "error" in result else {"result": result}
        return {"error": {"code": -32601, "message": "Method not found"}}

    def hello(self):
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "evil", "version": "6.6.6"},
        }

    def page(self, cursor):
        return {"tools": self.tools}

    def call_echo(self, arguments, params):
        return text(arguments.get("say", ""))

    def call_cancelled(self, arguments, params):
        return text(json.dumps(self.cancelled))


class Well(Server):
    def __init__(self):
        super().__init__()
        self.tools += [tool("pid"), tool("environment"), tool("end")]

    def call_pid(self, arguments, params):
        return text(str(os.getpid()))

    def call_environment(self, arguments, params):
        return text(json.dumps(dict(os.environ)))

    def call_end(self, arguments, params):
        say({"method": "notifications/message", "params": {"level": "info", "data": "bye"}})
        os._exit(0)


class HangsAtStart(Server):
    def answer(self, method, params):
        complain("thinking about it")


class EndsAtOnce(Server):
    def serve(self):
        complain(f"no board for {os.environ.get('KEY', 'nobody')}\n")
        sys.exit(3)


class HangsInCall(Server):
    def __init__(self):
        super().__init__()
        self.tools.append(tool("hang"))

    def call_hang(self, arguments, params):
        token = params.get("_meta", {}).get("progressToken")
        if token is not None:
            progress = {"progressToken": token, "progress": 1, "total": 2, "message": "half"}
            say({"method": "notifications/progress", "params": progress})


class DiesInCall(Server):
    def __init__(self):
        super().__init__()
        self.tools.append(tool("die"))

    def call_die(self, arguments, params):
        complain("out of cheese\n")
        sys.exit(7)


class FloodsStderr(Server):
    def hear(self, message):
        if message.get("method") in ("initialize", "tools/call"):
            for _ in range(50):
                complain(MEGABYTE)
            complain("\nthe last line\n")
        super().hear(message)


class TalksRubbish(Server):
    def hear(self, message):
        sys.stdout.write('Welcome to evil!\n\n{not: json\n{"jsonrpc": "2.0"}\n[1, 2]\n"text"\n')
        sys.stdout.flush()
        sys.stdout.buffer.write(b"\x00\xff\xfe\n")
        super().hear(message)


class OnlyRubbish(Server):
    def hear(self, message):
        while True:
            sys.stdout.write("rubbish\n")


class EndlessLine(Server):
    def page(self, cursor):
        while True:
            sys.stdout.write(MEGABYTE)


class LongDescription(Server):
    def __init__(self):
        super().__init__()
        self.tools.append(tool("long", description=10 * MEGABYTE))


class TooDeep(Server):
    """Deeper than any parser goes, so that its answer cannot be told from rubbish."""

    def page(self, cursor):
        sys.stdout.write('{"jsonrpc": "2.0", "id": 2, "result": {"tools": ' + "[" * 100_000 + "\n")
        sys.stdout.flush()
        time.sleep(60)


class OddTools(Server):
    def __init__(self):
        super().__init__()
        leaf = {"type": "object", "properties": {"next": {"$ref": "#"}}}
        self.tools += [
            tool("recursive", inputSchema=leaf),
            tool("twin", title="first"),
            tool("twin", title="second"),
            tool("numbers", inputSchema=17),
            {"description": "has no name"},
            tool("misfit", outputSchema={"type": "object", "required": ["x"]}),
            "not even an object",
            tool("rich", _meta={"a": 1}, icons=[{"src": "x.png"}], annotations={"title": "R"}),
        ]

    def call_misfit(self, arguments, params):
        odd = [{"type": "hologram", "_meta": {"deep": True}}, {"type": "text", "text": "", "x": 1}]
        return {"content": odd, "structuredContent": {"y": 2}}

    def call_twin(self, arguments, params):
        return {"isError": True, **text("which one?")}

    def call_rich(self, arguments, params):
        return {"error": {"code": -32000, "message": "not today"}}


class Pages(Server):
    """Three pages, the last with the empty cursor that some servers send."""

    def page(self, cursor):
        number = int(cursor or 0)
        return {"tools": [tool(f"t{number}")], "nextCursor": str(number + 1) if number < 2 else ""}


class EndlessPages(Server):
    def page(self, cursor):
        return {"tools": [tool("again")], "nextCursor": str(int(cursor or 0) + 1)}


class SamePage(Server):
    def page(self, cursor):
        return {"tools": [tool("again")], "nextCursor": "here"}


class TooMany(Server):
    def page(self, cursor):
        return {"tools": [tool(f"t{number}") for number in range(10_001)]}


class Stubborn(Server):
    """Ignores the end of its input and SIGTERM, and so does its child."""

    CHILD = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True)"

    def serve(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        wait = [sys.executable, "-c", f"{self.CHILD}; time.sleep(60)"]
        self.child = subprocess.Popen(wait, stdout=subprocess.PIPE)
        self.child.stdout.readline()
        self.tools.append(tool("pids"))
        super().serve()
        time.sleep(60)

    def call_pids(self, arguments, params):
        return text(json.dumps([os.getpid(), self.child.pid]))


class LeavesChild(Stubborn):
    """Ends when it is told to; its child, which holds its pipes, does not."""

    def serve(self):
        wait = [sys.executable, "-c", "import time; time.sleep(60)"]
        self.child = subprocess.Popen(wait)
        self.tools.append(tool("pids"))
        Server.serve(self)


class Changes(Server):
    def __init__(self):
        super().__init__()
        self.tools.append(tool("change"))

    def call_change(self, arguments, params):
        self.tools[-1] = tool("changed")
        for _ in range(100):
            say({"method": "notifications/tools/list_changed"})
        return text("changed")


class ListsOnce(Changes):
    """Says that its list changed, and does not give it again."""

    def answer(self, method, params):
        if method == "tools/list" and self.tools[-1]["name"] == "changed":
            return None
        return super().answer(method, params)


class Deaf(Server):
    """Reads nothing after the handshake, and asks for answers all the time."""

    def page(self, cursor):
        say({"id": 99, "result": {}})
        return super().page(cursor)

    def serve(self):
        for line in sys.stdin:
            message = json.loads(line)
            self.hear(message)
            if message.get("method") == "tools/list":
                break
        for number in range(2_000):
            say({"id": f"ping-{number}", "method": "ping"})
        time.sleep(60)


class NewOnly(Server):
    """Speaks only the protocol of 2026, and tells of changes on a stream."""

    def answer(self, method, params):
        if method == "initialize":
            data = {"supported": ["2026-07-28"], "requested": params["protocolVersion"]}
            return {"error": {"code": -32022, "message": "too old", "data": data}}
        if method == "server/discover":
            return {
                "result": {
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {"listChanged": True}},
                    **self.envelope(),
                }
            }
        return super().answer(method, params)

    def hear(self, message):
        if message.get("method") != "subscriptions/listen":
            return super().hear(message)
        stamp = {"_meta": {"io.modelcontextprotocol/subscriptionId": message["id"]}}
        honored = {"notifications": {"toolsListChanged": True}, **stamp}
        say({"method": "notifications/subscriptions/acknowledged", "params": honored})
        say({"method": "notifications/tools/list_changed", "params": stamp})
        return None

    def page(self, cursor):
        return {"tools": self.tools, **self.envelope()}

    def envelope(self):
        return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

    def call_echo(self, arguments, params):
        return {**super().call_echo(arguments, params), "resultType": "complete"}


class RefusesAll(Server):
    def answer(self, method, params):
        return {"error": {"code": -32603, "message": f"bad key {os.environ.get('KEY')}"}}


class NoTools(Server):
    def hello(self):
        return {**super().hello(), "capabilities": {"prompts": {}}}

    def page(self, cursor):
        raise AssertionError

    def answer(self, method, params):
        if method == "tools/list":
            return {"error": {"code": -32601, "message": "Method not found"}}
        return super().answer(method, params)


if __name__ == "__main__":
    globals()[sys.argv[1]]().serve()
