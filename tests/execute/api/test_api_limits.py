"""Services that are slow, endless, broken or left alone."""

import asyncio
import gc
import socket
import threading
import warnings
import zlib

import pytest
from api_parts import HERE, QUICK, arrived, called, job, keeping, manifest
from api_service import WAIT, Reply, heard

from pegboard.execute.api.executor import ApiExecutor
from pegboard.execute.job import Limits
from pegboard.model.calls import Outcome
from waiting import in_the_time_it_takes

SMALL = Limits(seconds=20, written_bytes=100_000)


def test_an_answer_that_does_not_come_ends_in_a_timeout(service):
    def attempt(seconds):
        result = called(manifest(url=f"{service.url}/waits"), limits=Limits(seconds=seconds))
        assert result.outcome is Outcome.TIMEOUT
        assert result.error == f"it took longer than {seconds:g} s"
        return service.asked

    in_the_time_it_takes(attempt)
    assert service.left.wait(WAIT)


def test_the_time_is_for_all_tries_together(service):
    """Each redirect and each try would have the whole time again, if it were not."""
    item = manifest(url=f"{service.url}/next")

    def attempt(seconds):
        service.asked.clear()
        service.next.clear()
        service.next.extend([Reply(503), Reply(302, b"", (("location", "/waits"),))])
        assert called(item, limits=Limits(seconds=seconds)).outcome is Outcome.TIMEOUT
        return [each.path for each in service.asked] == ["/next", "/next", "/waits"]

    in_the_time_it_takes(attempt)
    assert service.left.wait(WAIT)


def test_an_answer_without_end_is_stopped(service):
    result = called(manifest(url=f"{service.url}/endless"), limits=SMALL)
    assert result.outcome is Outcome.FAILED
    assert "has more than 100,000 bytes, unpacked" in result.error


def test_an_answer_that_unpacks_to_much_is_stopped(service):
    result = called(manifest(url=f"{service.url}/bomb"), limits=SMALL)
    assert result.outcome is Outcome.FAILED
    assert "has more than 100,000 bytes, unpacked" in result.error


def test_an_answer_of_just_the_size_is_taken(service):
    service.next.append(Reply(200, b"x" * 100_000))
    result = called(manifest(url=f"{service.url}/next"), limits=SMALL)
    assert result.outcome is Outcome.OK
    assert len(result.content[0]["text"]) == 100_000


def test_packed_answers_are_unpacked(service):
    for coding, packed in (
        ("gzip", zlib.compress(b"hello", wbits=31)),
        ("deflate", zlib.compress(b"hello")),
        ("identity", b"hello"),
    ):
        told = (("content-encoding", coding), ("content-type", "text/plain"))
        service.next.append(Reply(200, packed, told))
        result = called(manifest(url=f"{service.url}/next"))
        assert result.content[0]["text"] == "hello"


@pytest.mark.parametrize("coding", ["br", "gzip, gzip", "x-evil"])
def test_packing_that_was_not_asked_for_is_refused(service, coding):
    service.next.append(Reply(200, b"hello", (("content-encoding", coding),)))
    result = called(manifest(url=f"{service.url}/next"))
    assert result.outcome is Outcome.FAILED
    assert "which was not asked for" in result.error


def test_what_is_called_packed_and_is_not_fails(service):
    service.next.append(Reply(200, b"hello", (("content-encoding", "gzip"),)))
    result = called(manifest(url=f"{service.url}/next"))
    assert result.outcome is Outcome.FAILED
    assert "sent what cannot be unpacked" in result.error


def test_an_error_without_end_is_cut_short(service):
    service.next.append(Reply(500, b"x" * 1_000_000, (("content-type", "text/plain"),)))
    result = called(manifest(url=f"{service.url}/next"))
    assert (result.outcome, result.error) == (Outcome.FAILED, "HTTP 500 Internal Server Error")
    assert len(result.content[0]["text"]) < 5_000


def test_cancelling_hangs_up_at_once(service):
    async def main():
        executor = ApiExecutor(HERE, **QUICK)
        task = asyncio.create_task(executor.run(job(manifest(url=f"{service.url}/waits"))))
        await asyncio.to_thread(service.waiting.wait, WAIT)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            async with asyncio.timeout(WAIT):
                await task
        left = await asyncio.to_thread(service.left.wait, WAIT)
        await executor.close()
        return left

    assert asyncio.run(main())


def test_cancelling_a_wait_between_two_tries_ends_it(service):
    async def main():
        executor = ApiExecutor(HERE, **QUICK)
        service.next.append(Reply(503, b"", (("retry-after", "15"),)))
        task = asyncio.create_task(executor.run(job(manifest(url=f"{service.url}/next"))))
        async with asyncio.timeout(WAIT):
            while not service.asked:
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await executor.close()

    asyncio.run(main())
    assert len(service.asked) == 1


def test_after_a_cancelled_call_others_go_on(service):
    async def main():
        executor = ApiExecutor(HERE, **QUICK)
        for _ in range(5):
            task = asyncio.create_task(executor.run(job(manifest(url=f"{service.url}/waits"))))
            await asyncio.to_thread(service.waiting.wait, WAIT)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        result = await executor.run(job(manifest(url=f"{service.url}/echo")))
        await executor.close()
        return result

    assert asyncio.run(main()).outcome is Outcome.OK


def test_a_hundred_calls_at_once_are_not_mixed_up(service):
    async def main():
        executor = ApiExecutor(HERE, **QUICK)
        item = manifest({"n": {}}, url=f"{service.url}/echo")
        calls = [executor.run(job(item, {"n": number})) for number in range(100)]
        results = await asyncio.gather(*calls)
        await executor.close()
        return results

    results = asyncio.run(main())
    assert [heard(each.structured).query for each in results] == [f"n={n}" for n in range(100)]


def test_connections_are_used_again_and_none_is_left(service):
    with keeping() as run:
        for _ in range(5):
            assert run(job(manifest(url=f"{service.url}/echo"))).outcome is Outcome.OK


class Raw:
    """A server that answers each connection with the same bytes, and hangs up."""

    def __init__(self, *answers):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.asked = 0
        self._answers = answers
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self):
        for answer in self._answers:
            connection, _ = self._socket.accept()
            with connection:
                connection.recv(65_536)
                self.asked += 1
                connection.sendall(answer)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._socket.close()
        self._thread.join(WAIT)


FINE = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Type: text/plain\r\n\r\nfine"


def test_a_connection_that_breaks_before_the_answer_is_tried_again_if_that_is_safe():
    with Raw(b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", FINE) as server:
        assert called(manifest(url=f"{server.url}/")).outcome is Outcome.OK
        assert server.asked == 3
    with Raw(b"") as server:
        result = called(manifest(url=f"{server.url}/", method="POST"))
        assert result.outcome is Outcome.FAILED
        assert "broke off" in result.error
        assert server.asked == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 999999 What\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nBad Header\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 300_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello",
    ],
)
def test_an_answer_that_is_none_fails(answer):
    with Raw(answer) as server:
        result = called(manifest(url=f"{server.url}/", method="POST"))
        assert result.outcome is Outcome.FAILED, result


def test_a_closed_executor_can_be_used_again(service):
    async def main():
        executor = ApiExecutor(HERE)
        await executor.close()
        result = await executor.run(job(manifest(url=f"{service.url}/echo")))
        await executor.close()
        await executor.close()
        return result

    assert asyncio.run(main()).outcome is Outcome.OK


def test_connections_of_a_loop_that_has_ended_are_not_used(service):
    item = manifest(url=f"{service.url}/echo")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # nobody closed them in time
        executor = ApiExecutor(HERE)
        first, second = asyncio.run(executor.run(job(item))), asyncio.run(executor.run(job(item)))
        del executor
        gc.collect()
    assert [first.outcome, second.outcome] == [Outcome.OK, Outcome.OK]


def test_no_time_at_all_is_a_timeout(service):
    item = manifest(url=f"{service.url}/echo")
    assert called(item, limits=Limits(seconds=0)).outcome is Outcome.TIMEOUT
    assert arrived(item).path == "/echo"
