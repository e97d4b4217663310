"""Releases behind gateways that lie, break off or die."""

import json

import pytest
from remote_parts import raw, saying, stranger

from pegboard.board.publish.releasing import Parcel
from pegboard.config.settings import Settings
from pegboard.errors import BoardBusy, BoardUnreachable, PegboardError, exit_code
from pegboard.remote.board import RemoteBoard

PARCEL = Parcel(b"PK", b"{}")
NAME = "tools:paper:fold"
VERSION = {
    "namespace": "public",
    "id": NAME,
    "number": "1.0.0",
    "content_hash": "h",
    "created_at": 1.0,
    "signature": "{}",
    "bundle": PARCEL.sha256,
}


def told(value: object, status: str = "200 OK", media: str = "application/json", **headers: str):
    return saying(status, json.dumps(value).encode(), media, **headers)


def releases_of(found):
    return RemoteBoard(found.place, Settings()).releases


def test_whoever_cannot_know_what_became_of_it_is_told_to_publish_again():
    for answer in (raw(b""), raw(b"HTTP/1.1 201 Created\r\nContent-Length: 500\r\n\r\n{")):
        with stranger(answer) as found, pytest.raises(BoardUnreachable) as raised:
            releases_of(found).publish(PARCEL)
        assert "publish it again" in raised.value.hint
        assert exit_code(raised.value) == 4


def test_a_gateway_that_stays_busy_is_given_up():
    said = {"code": "busy", "status": 503, "detail": "4 requests are being worked on already"}
    with stranger(told(said, "503 Busy", "application/problem+json")) as found:
        releases, waits = releases_of(found), []
        releases._wait = waits.append
        with pytest.raises(PegboardError, match="worked on already"):
            releases.publish(PARCEL)
    assert len(waits) == 9


def test_a_board_that_is_busy_says_so_and_is_not_asked_again():
    said = {"code": "board_busy", "status": 503, "detail": "somebody writes"}
    with (
        stranger(told(said, "503 Busy", "application/problem+json")) as found,
        pytest.raises(BoardBusy, match="somebody writes"),
    ):
        releases_of(found).publish(PARCEL)


@pytest.mark.parametrize(
    ("bundle", "etag", "named"),
    [
        (b"PK", '"other"', PARCEL.sha256),
        (b"PK and more", f'"{PARCEL.sha256}"', PARCEL.sha256),
        (b"PK", f'"{PARCEL.sha256}"', "other"),
    ],
)
def test_a_bundle_that_is_not_what_the_gateway_says_is_not_taken(bundle, etag, named):
    answers = (
        saying("200 OK", bundle, "application/zip", ETag=etag),
        told(VERSION | {"bundle": named}),
    )
    with stranger(*answers) as found, pytest.raises(BoardUnreachable, match="another bundle"):
        releases_of(found).parcel(NAME, "1.0.0")


def test_a_bundle_that_is_is_taken():
    etag = f'"{PARCEL.sha256}"'
    answers = (saying("200 OK", b"PK", "application/zip", ETag=etag), told(VERSION))
    with stranger(*answers) as found:
        assert releases_of(found).parcel(NAME, "1.0.0") == PARCEL


def test_what_is_no_archive_is_not_taken():
    for answer in (told({"a": 1}), saying("200 OK", b"<html>", "text/html")):
        with stranger(answer) as found, pytest.raises(BoardUnreachable):
            releases_of(found).parcel(NAME, "1.0.0")


def test_a_reason_comes_without_what_a_terminal_obeys():
    etag = f'"{PARCEL.sha256}"'
    back = VERSION | {"yanked_at": 2.0, "yank_reason": "\x1b[31mred"}
    answers = (saying("200 OK", b"PK", "application/zip", ETag=etag), told(back))
    with stranger(*answers) as found:
        assert "\x1b" not in releases_of(found).parcel(NAME, "1.0.0").yanked
