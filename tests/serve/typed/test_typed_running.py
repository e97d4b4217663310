"""Both modules, run against a gateway that is a process of its own."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest
from typed_parts import checked, compiled

from pegboard.app.pegboard import Pegboard
from waiting import until

pytestmark = pytest.mark.server

DEMO = Path(__file__).parents[3] / "demo"
DOCS = Path(__file__).parents[3] / "docs" / "how-to" / "typed-clients.md"
TOOLS = {
    "odd/explode": 'raise ValueError("it exploded")',
    "odd/nothing": "return None",
    "odd/class": 'return {"result": text, "more": 1}',
}
SHRED = """\
tool_id: shred
tool_type: bash
description: Shred a sheet of paper, so that nobody can read it.
destructive: true
parameters:
  - {name: sheet, type: string, required: true}
executor_config: {entrypoint: run.sh}
"""
WANTED = "text__count_words,slugify_title,mcptools:odd:explode,nothing,class,shred"

TYPESCRIPT = """
import { ApprovalNeeded, ToolError, callTool, configure, tools } from "./tools.ts";

declare const process: { argv: string[]; env: { [name: string]: string } };
declare const console: { log(text: string): void };
const strange = process.argv[2] ?? "";

async function told(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return (await work()) ?? null;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { name, code, outcome, status, message, hint } = error;
    return { name, code, outcome, status, message, hint, ended: error.result?.outcome ?? null };
  }
}

const counted = await tools.text.countWords({ text: "to be or not to be", top: 1 });
const found: { [name: string]: unknown } = {
  counted,
  slug: await tools.text.slugifyTitle({ title: "Crème brûlée" }),
  nothing: await told(() => tools.odd.nothing({ text: "x" })),
  whole: await told(() => tools.odd.class({ text: "x" })),
  exploded: await told(() => tools.odd.explode({ text: "x" })),
  invalid: await told(() => tools.text.slugifyTitle({ title: 5 } as unknown as { title: string })),
  missing: await told(() => callTool("nobody/knows:this:tool")),
  raw: (await callTool("text__count_words", { text: "one" })).outcome,
};
try {
  await tools.paper.shred({ sheet: "a" });
} catch (error) {
  if (!(error instanceof ApprovalNeeded)) throw error;
  found["question"] = error.question;
  found["approval"] = [error.code, error.outcome, error.status];
  found["approved"] = await error.approve();
}
for (const kind of ["html", "cut", "list", "redirect", "slow"]) {
  configure({ gateway: `${strange}/${kind}/`, timeoutSeconds: kind === "slow" ? 0.5 : 60 });
  found[kind] = await told(() => tools.odd.nothing({ text: "x" }));
}
configure({ gateway: `${strange}/echo`, timeoutSeconds: 60 });
process.env["PEGBOARD_TOKEN"] = "from the environment\\n";
found["token"] = await told(() => tools.odd.nothing({ text: "x" }));
configure({ token: "another" });
found["other"] = await told(() => tools.odd.nothing({ text: "x" }));
configure({ gateway: "http://127.0.0.1:1" });
found["down"] = await told(() => tools.odd.nothing({ text: "x" }));
console.log(JSON.stringify(found));
"""

PYTHON = """
import json
import os
import sys
from collections.abc import Callable
from typing import Any, cast

from tools import ApprovalNeeded, ToolError, call_tool, configure, tools

strange = sys.argv[1]


def told(work: Callable[[], object]) -> object:
    try:
        return work()
    except ToolError as error:
        ended = error.result["outcome"] if error.result else None
        names = ("code", "outcome", "status", "message", "hint")
        facts = {name: getattr(error, name) for name in names}
        return {"name": type(error).__name__, **facts, "ended": ended}


counted = tools.text.count_words(text="to be or not to be", top=1)
found: dict[str, Any] = {
    "counted": counted,
    "slug": tools.text.slugify_title(title="Crème brûlée"),
    "nothing": told(lambda: tools.odd.nothing(text="x")),
    "whole": told(lambda: tools.odd.class_(text="x")),
    "exploded": told(lambda: tools.odd.explode(text="x")),
    "invalid": told(lambda: tools.text.slugify_title(title=cast(str, 5))),
    "missing": told(lambda: call_tool("nobody/knows:this:tool")),
    "raw": call_tool("text__count_words", {"text": "one"})["outcome"],
}
try:
    tools.paper.shred(sheet="a")
except ApprovalNeeded as error:
    found["question"] = error.question
    found["approval"] = [error.code, error.outcome, error.status]
    found["approved"] = error.approve()
for kind in ("html", "cut", "list", "redirect", "slow"):
    configure(gateway=f"{strange}/{kind}/", timeout_seconds=0.5 if kind == "slow" else 60)
    found[kind] = told(lambda: tools.odd.nothing(text="x"))
configure(gateway=f"{strange}/echo", timeout_seconds=60)
os.environ["PEGBOARD_TOKEN"] = "from the environment\\n"
found["token"] = told(lambda: tools.odd.nothing(text="x"))
configure(token="another")
found["other"] = told(lambda: tools.odd.nothing(text="x"))
configure(gateway="http://127.0.0.1:1")
found["down"] = told(lambda: tools.odd.nothing(text="x"))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    """`pegboard serve --open` on a board with the demo's tools and some odd ones."""
    folder = tmp_path_factory.mktemp("served")
    for tool, body in TOOLS.items():
        file = folder / "odd" / "mcptools" / f"{tool}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'def run(text: str):\n    """Do something odd."""\n    {body}\n')
    shred = folder / ".ai" / "tools" / "paper" / "shred"
    shred.mkdir(parents=True)
    (shred / "tool.yaml").write_text(SHRED)
    (shred / "run.sh").write_text('echo "shredded $ARG_SHEET"\n')
    environ = {k: v for k, v in os.environ.items() if not k.startswith("PEGBOARD_")}
    environ |= {"HOME": str(folder / "home"), "PEGBOARD_EMBED_PROVIDER": "test"}
    with Pegboard.open(str(folder / "board.db"), create=True) as board:
        for each in (DEMO, folder / "odd", folder / ".ai"):
            board.add_folder(each)
        board.sync(embed=False)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    served = subprocess.Popen(
        [
            *(sys.executable, "-m", "pegboard", "serve", "--open", "--no-sync", "--no-watch"),
            *("--board", "board.db", "--port", str(port)),
        ],
        cwd=folder,
        env=environ,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: served.poll() is not None or answers(url))
        assert served.poll() is None
        yield url
    finally:
        served.terminate()
        served.wait(30)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=10) as answer:
            return answer.status == 200
    except OSError:
        return False


@pytest.fixture(scope="module")
def strange():
    """A server that answers in ways in which no gateway does; where it is, and what it was told."""
    tokens: list[str] = []
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            kind = self.path.split("/")[1]
            if kind == "elsewhere":
                tokens.append(self.headers.get("authorization", ""))
            if kind == "slow":
                over.wait(30)
            token = self.headers.get("authorization", "")
            said = {"outcome": "ok", "content": [{"type": "text", "text": token}]}
            status, body = {
                "html": (502, b"<html>bad gateway</html>"),
                "list": (200, b"[1, 2]"),
                "redirect": (307, b""),
            }.get(kind, (200, json.dumps(said).encode()))
            self.send_response(status)
            if kind == "redirect":
                host = self.headers["host"].replace("127.0.0.1", "localhost")
                self.send_header("location", f"http://{host}/elsewhere")
            self.send_header("content-length", str(len(body) + 50 * (kind == "cut")))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", tokens
    over.set()
    server.shutdown()
    thread.join()
    server.server_close()


def module(gateway: str, name: str, wanted: str = WANTED) -> str:
    with urllib.request.urlopen(f"{gateway}/runtime/{name}?filter={quote(wanted)}") as answer:
        return answer.read().decode()


def test_a_module_is_what_the_documents_show(gateway):
    shown = DOCS.read_text("utf-8").partition("## What is in a module")[2]
    block = re.search(r"```ts\n(.*?)```", shown, re.DOTALL)
    assert block
    assert block[1] in module(gateway, "tools.ts", "text__count_words")


@pytest.fixture(scope="module", params=["typescript", "python"])
def found(request, gateway, strange, tmp_path_factory):
    """What a program saw that uses the module, having passed the compiler."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "typescript":
        files = {"tools.ts": module(gateway, "tools.ts"), "main.ts": TYPESCRIPT}
        assert compiled(folder, files, emit=True) == []
        command = [shutil.which("node"), "main.js"]
    else:
        files = {"tools.py": module(gateway, "tools.py"), "main.py": PYTHON}
        assert checked(folder, files) == []
        command = [sys.executable, "main.py"]
    done = subprocess.run(
        [*command, strange[0]],
        cwd=folder,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_call_gives_back_what_the_tool_gives_back(found):
    assert found["counted"] == {
        "words": 6,
        "characters": 18,
        "sentences": 0,
        "lines": 1,
        "frequent": {"to": 2},
    }
    assert found["slug"] == "creme-brulee"
    assert found["nothing"] is None
    assert found["whole"] == {"result": "x", "more": 1}
    assert found["raw"] == "ok"


def test_a_tool_that_fails_is_an_error_with_all_that_came_back(found):
    error = found["exploded"]
    assert (error["code"], error["outcome"], error["status"]) == ("failed", "failed", 200)
    assert "it exploded" in error["message"]
    assert error["ended"] == "failed"


def test_what_was_not_run_says_why_and_what_to_do(found):
    error = found["invalid"]
    assert (error["code"], error["outcome"], error["status"]) == (
        *("invalid_arguments", "invalid_arguments"),
        422,
    )
    assert "5 is not of type 'string'" in error["message"]
    error = found["missing"]
    assert (error["code"], error["outcome"], error["status"]) == ("item_not_found", "", 404)
    assert error["hint"]


def test_a_call_that_a_person_has_to_approve_is_told_apart_and_can_be_approved(found):
    assert found["approval"] == ["approval_needed", "denied", 409]
    assert found["question"].startswith("Run tools:paper:shred? Consider: it can destroy")
    assert found["approved"] == "shredded a\n"


def test_answers_that_are_no_answers_are_errors_of_the_same_kind(found):
    assert (found["html"]["code"], found["html"]["status"]) == ("bad_answer", 502)
    assert "status 502" in found["html"]["message"]
    assert (found["list"]["code"], found["list"]["status"]) == ("bad_answer", 200)
    assert found["cut"]["code"] == "gateway_unreachable"
    assert found["slow"]["code"] == "took_too_long"
    assert found["down"]["code"] == "gateway_unreachable"
    assert all(found[kind]["message"] for kind in ("html", "list", "cut", "slow", "down"))


def test_a_token_is_sent_to_its_gateway_and_nowhere_else(found, strange):
    assert found["token"] == "Bearer from the environment"
    assert found["other"] == "Bearer another"
    assert (found["redirect"]["code"], found["redirect"]["status"]) == ("bad_answer", 307)
    assert strange[1] == []
