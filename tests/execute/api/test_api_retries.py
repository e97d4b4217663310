import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from api_parts import called, manifest
from api_service import Reply

from pegboard.execute.api.sending import pause_after
from pegboard.execute.job import Limits
from pegboard.model.calls import Outcome

FINE = Reply(200, b"fine")


@pytest.mark.parametrize("status", [429, 502, 503, 504])
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_what_changes_nothing_is_asked_again(service, status, method):
    service.next.extend([Reply(status), Reply(status), FINE])
    result = called(manifest(url=f"{service.url}/next", method=method))
    assert result.outcome is Outcome.OK
    assert len(service.asked) == 3


def test_after_the_third_time_it_is_over(service):
    service.next.extend([Reply(503)] * 3)
    result = called(manifest(url=f"{service.url}/next"))
    assert (result.outcome, result.error) == (Outcome.FAILED, "HTTP 503 Service Unavailable")
    assert len(service.asked) == 3


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_what_may_change_something_is_asked_once(service, method):
    service.next.append(Reply(503))
    assert called(manifest(url=f"{service.url}/next", method=method)).outcome is Outcome.FAILED
    assert len(service.asked) == 1


@pytest.mark.parametrize("status", [400, 404, 500, 501])
def test_other_errors_are_not_tried_again(service, status):
    service.next.append(Reply(status))
    assert called(manifest(url=f"{service.url}/next")).outcome is Outcome.FAILED
    assert len(service.asked) == 1


def test_a_wait_that_is_longer_than_the_time_left_is_not_begun(service):
    service.next.append(Reply(429, b"slow down", (("retry-after", "3600"),)))
    result = called(manifest(url=f"{service.url}/next"), limits=Limits(seconds=20))
    assert (result.outcome, result.error) == (Outcome.FAILED, "HTTP 429 Too Many Requests")
    assert result.meta["http"]["retry-after"] == "3600"
    assert len(service.asked) == 1


def test_a_short_wait_is_kept(service):
    service.next.extend([Reply(429, b"", (("retry-after", "0"),)), FINE])
    assert called(manifest(url=f"{service.url}/next")).outcome is Outcome.OK


def test_how_long_to_wait():
    assert pause_after("7", 0.5) == 7
    assert pause_after("0", 0.5) == 0.5
    assert pause_after("-7", 0.5) == 0.5
    for told in ("", "soon", "inf", "nan", "1e999"):
        assert pause_after(told, 0.5) == 0.5
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    assert 3_000 < pause_after(later, 0.5) < 4_000
    assert pause_after("Wed, 21 Oct 2015 07:28:00 GMT", 0.5) == 0.5


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_connection_that_failed_before_anything_was_sent_is_tried_again(service, method):
    tries = []

    async def resolve(host, port):
        tries.append(host)
        if len(tries) < 3:
            raise socket.gaierror(socket.EAI_AGAIN, "try again")
        return ["127.0.0.1"]

    item = manifest(url=f"http://shop.example:{service.port}/echo", method=method)
    assert called(item, resolve=resolve).outcome is Outcome.OK
    assert (len(tries), len(service.asked)) == (3, 1)


def test_where_nobody_listens_it_is_unavailable():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        result = called(manifest(url=f"http://127.0.0.1:{port}/"))
    assert result.outcome is Outcome.UNAVAILABLE
    assert f"http://127.0.0.1:{port}/ cannot be reached: Connection refused" in result.error
