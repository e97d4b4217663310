import socket


def run(host: str, ports: list[int], timeout: float = 2.0) -> dict[str, bool]:
    """Test which TCP ports of a machine accept connections.

    Args:
        host: Host name or IP address.
        ports: Port numbers to try.
        timeout: Seconds to wait for each port.

    Returns:
        Port numbers mapped to true (reachable) or false.
    """
    return {str(port): _accepts(host, port, timeout) for port in ports}


def _accepts(host: str, port: int, timeout: float) -> bool:
    try:
        with socket.create_connection((host, port), timeout=timeout):
            return True
    except OSError:
        return False
