"""Bundles at a gateway that really listens: how large, how slow, and what remains of a death."""

import base64
import json
import signal
from contextlib import suppress
from pathlib import Path
from random import Random

import httpx2
import pytest
from gateway_parts import BOUND, Here, Wire, request, wire

from making_releases import Publisher
from pegboard.app.pegboard import Pegboard
from pegboard.config.gateway import GatewayPlace
from pegboard.config.settings import Settings
from pegboard.remote.board import RemoteBoard
from pegboard.serve.http import limits
from waiting import until

PATH = "/items/tools:paper:fold"
MIB = 1 << 20


@pytest.fixture
def publisher(tmp_path, small_board):
    with Pegboard.open(small_board) as board:
        return Publisher(tmp_path / "published", board.settings.data_folder)


def body_of(publisher, number="1.0.0", **how) -> bytes:
    parcel = publisher.parcel(number, **how)
    return json.dumps(parcel_body(parcel)).encode()


def parcel_body(parcel) -> dict[str, str]:
    bundle = base64.b64encode(parcel.bundle).decode()
    return {"bundle": bundle, "signature": parcel.side_file.decode()}


def post(body: bytes, **headers: str) -> bytes:
    said = {"Content_Type": "application/json", "Content_Length": str(len(body))} | headers
    return request("POST", "/releases", "", **said).encode() + body


def problem(body: bytes) -> str:
    return json.loads(body)["code"]


def test_a_bundle_may_be_larger_than_other_requests_and_has_a_bound_of_its_own(
    open_board, publisher
):
    board = open_board(serve__request_bytes=100_000, serve__bundle_bytes=3 * MIB)
    with Here(board) as here, here.client() as client:
        large = body_of(publisher, files={"ink.bin": b"\xff" * MIB})
        json_body = {"Content-Type": "application/json"}
        assert client.post("/releases", content=large, headers=json_body).status_code == 201
        with wire(here.port) as told_first:
            told_first.send(request("POST", "/releases", "", Content_Length=str(40 * MIB)))
            status, _, said = told_first.answer()
        assert (status, problem(said)) == (413, "too_large")
        assert "serve.bundle_bytes" in json.loads(said)["hint"]
        refused = client.post("/search", content=large, headers=json_body)
        assert (refused.status_code, refused.json()["code"]) == (413, "too_large")


def test_an_upload_that_is_cut_leaves_nothing(open_board, publisher):
    board = open_board()
    body = body_of(publisher)
    with Here(board) as here, here.client() as client:
        with wire(here.port) as half:
            half.send(post(body)[:-100])
            until(lambda: here.limits._bundles.size > 0)
        until(lambda: here.limits._bundles.size == 0, "what was read is given back")
        assert client.get(f"{PATH}/versions").status_code == 404
        said = {"Content-Type": "application/json"}
        short = client.post("/releases", content=body[:-100], headers=said)
        assert (short.status_code, short.json()["code"]) == (400, "malformed")
        assert client.post("/releases", content=body, headers=said).status_code == 201


def test_an_upload_that_dawdles_is_cut(open_board, publisher, monkeypatch):
    with Here(open_board()) as here, wire(here.port) as slow:
        gate = here.limits
        monkeypatch.setattr(gate, "_bounds", gate._bounds._replace(bundle_seconds=0.2))
        slow.send(post(body_of(publisher))[:-100])
        status, _, said = slow.answer()
        assert (status, problem(said)) == (408, "too_slow")


def test_uploads_that_never_end_keep_nobody_from_publishing_and_have_bounded_memory(
    open_board, publisher
):
    board = open_board(serve__bundle_bytes=100_000, serve__requests_per_minute=0)
    most = limits.BUNDLES * 100_000
    with Here(board) as here, here.client() as client:
        opened = [Wire(here.port) for _ in range(20)]
        for each in opened:
            each.send(post(b"{" + b" " * 99_998, Content_Length="100000"))
        until(lambda: most - 100_000 < here.limits._bundles.size <= most)
        said = {"Content-Type": "application/json"}
        assert client.post("/releases", content=body_of(publisher), headers=said).status_code == 201
        assert here.limits._bundles.size <= most
        assert here.limits._uploads.size == 0, "other requests have room of their own"
        for each in opened:
            each.close()
        until(lambda: here.limits._bundles.size == 0, "all is given back")


def test_whoever_publishes_while_many_do_waits_for_a_turn(open_board, publisher):
    """The gateway says that it is busy, and a board behind it asks again."""
    with Here(open_board(serve__requests_per_minute=0)) as here:
        gate = here.limits
        there = RemoteBoard(GatewayPlace(here.url), Settings())
        turned_away = []

        def wait(seconds: float) -> None:
            turned_away.append(seconds)
            gate.in_hand[limits.Kind.PUBLISH] = 0

        gate.in_hand[limits.Kind.PUBLISH] = limits.BUNDLES
        with there:
            releases = there.releases
            releases._wait = wait
            assert releases.publish(publisher.parcel()).state == "published"
        assert len(turned_away) == 1


def test_downloads_have_a_bound_of_their_own(open_board, publisher):
    with Here(open_board(serve__requests_per_minute=0)) as here, here.client() as client:
        said = {"Content-Type": "application/json"}
        client.post("/releases", content=body_of(publisher), headers=said)
        bundle = f"{PATH}/versions/latest/bundle"
        assert client.get(bundle).status_code == 200
        until(lambda: here.limits.in_hand[limits.Kind.BUNDLE] == 0, "the first is done")
        here.limits.in_hand[limits.Kind.BUNDLE] = 2 * limits.BUNDLES
        found = client.get(bundle)
        assert (found.status_code, found.json()["code"]) == (503, "busy")
        assert client.get(f"{PATH}/versions").status_code == 200
        here.limits.in_hand[limits.Kind.BUNDLE] = 0


MOMENTS = ("half a body", "a whole body", "a file is there", "the board is written")


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_gateway_that_is_killed_while_it_publishes_has_all_of_it_or_nothing(
    served, small_board, publisher, moment
):
    parcel = publisher.parcel(files={f"{n}.bin": Random(n).randbytes(MIB) for n in range(8)})
    body = json.dumps(parcel_body(parcel)).encode()
    process = served("--open")
    process.ready()
    written, files = Path(f"{small_board}-wal"), Path(f"{small_board}-files")
    before = written.stat().st_size
    with wire(process.port) as client:
        client.send(post(body)[: len(body) // 2] if moment == MOMENTS[0] else post(body))
        if moment == MOMENTS[2]:
            until(lambda: any(each.is_file() for each in files.rglob("*")))
        elif moment == MOMENTS[3]:
            until(lambda: written.stat().st_size > before)
        process.signal(signal.SIGKILL)
        process.process.wait(BOUND)
        with suppress(ConnectionResetError, AssertionError):
            client.answer()  # there may be one, or none
    with Pegboard.open(small_board) as board:
        assert board.check() == []
        found = board.store.items.get("tools:paper:fold", "public")
        audit = board.store.releases.audit("tools:paper:fold")
        if found is None:
            assert not audit
        else:
            assert [each.action for each in audit] == ["publish"]
            assert board.releases.parcel("tools:paper:fold", "1.0.0").bundle == parcel.bundle
    again = served("--open")
    with RemoteBoard(GatewayPlace(again.ready()), Settings()) as there:
        state = there.releases.publish(parcel).state
        assert state == ("unchanged" if found else "published")
        assert there.releases.parcel("tools:paper:fold", "1.0.0").bundle == parcel.bundle


def test_the_log_says_whom_the_gateway_believed_when_it_began(served, small_board, publisher):
    process = served("--open")
    url = process.ready()
    with httpx2.Client(base_url=url, timeout=BOUND) as client:
        lines = client.get("/audit").json()["audit"]
        told = {each["action"]: each["detail"] for each in lines}
        assert "paper" in told["trust"]
        assert told["policy"] == "signatures of releases: require"
        assert {each["who"] for each in lines} == {"gateway"}
        publisher.keyring.new("another")
        client.post("/releases", json=parcel_body(publisher.parcel()))
        newest = client.get("/audit").json()["audit"]
        assert [each["action"] for each in newest[:2]] == ["publish", "trust"]
        assert "another" in newest[1]["detail"]
