import time
import urllib.error
import urllib.request


def run(url: str, expected_status: int = 200, timeout: float = 5.0) -> dict:
    """Request a health-check URL and measure availability and response time.

    Args:
        url: Address to request, http or https.
        expected_status: Status code that counts as healthy.
        timeout: Seconds to wait for an answer.

    Returns:
        "healthy", the status code (null if unreachable) and milliseconds taken.
    """
    if not url.startswith(("http://", "https://")):
        raise ValueError("only http and https addresses can be probed")
    begin = time.perf_counter()
    try:
        with urllib.request.urlopen(url, timeout=timeout) as reply:
            status = reply.status
    except urllib.error.HTTPError as error:
        status = error.code
    except OSError:
        status = None
    elapsed = round((time.perf_counter() - begin) * 1000, 1)
    return {"healthy": status == expected_status, "status": status, "milliseconds": elapsed}
