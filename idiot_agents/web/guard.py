"""Who may talk to the server: the Host it is called by, the page that calls, and how much at once.

Another site's page, open in the same browser, can send requests here.  It is told apart by its Origin; and one that
gives its own name this machine's address (DNS rebinding) by the Host.
"""

from __future__ import annotations

import ipaddress
import json
import socket
import time
from collections import OrderedDict
from typing import Any

from starlette.requests import HTTPConnection

LARGEST_MESSAGE = 16 * 1024
"""Bytes of one message on a socket."""
LARGEST_BODY = 512 * 1024
"""Bytes of one request; a record of a long game has a tenth of it."""


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def split_host(header: str) -> str:
    """The host of a Host header without its port, in lower case and without brackets."""
    host = header.rpartition(":")[0] if header.rpartition(":")[2].isdigit() else header
    return host.strip("[]").lower()


def host_allowed(header: str, served: str) -> bool:
    """Whether a request may call the server by this name.

    Args:
        served: the address that the server was started with.
    """
    host = split_host(header)
    if is_loopback(served):
        return is_loopback(host)
    try:
        ipaddress.ip_address(host)
        return True  # an address cannot be rebound
    except ValueError:
        name = socket.gethostname().lower()
        return host in {"localhost", served.lower(), name, f"{name}.local"}


def origin_allowed(connection: HTTPConnection) -> bool:
    """Whether the page that sends something is this server's own."""
    origin, host = connection.headers.get("origin"), connection.headers.get("host", "")
    return origin in (f"http://{host}", f"https://{host}")


def parse_json(text: str) -> Any:
    """The value of a JSON text that a stranger sent.

    Raises:
        ValueError: if it is none, is nested too deeply, or holds half a character, which no answer could repeat.
    """
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("the JSON is nested too deeply.") from None
    return value


class Bucket:
    """Lets ``burst`` things through at once and ``rate`` a second on average."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self._left, self._at = burst, time.monotonic()

    def take(self, weight: float = 1.0) -> bool:
        """Whether one more, which counts as ``weight``, may pass now."""
        now = time.monotonic()
        self._left = min(self.burst, self._left + (now - self._at) * self.rate)
        self._at = now
        if self._left < weight:
            return False
        self._left -= weight
        return True


class Buckets:
    """A bucket for each client, of as many clients as called last."""

    def __init__(self, rate: float, burst: float, most: int = 1000) -> None:
        self.rate, self.burst, self.most = rate, burst, most
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, client: str) -> bool:
        """Whether one more request of a client may pass now."""
        bucket = self._buckets.pop(client, None) or Bucket(self.rate, self.burst)
        self._buckets[client] = bucket
        while len(self._buckets) > self.most:
            self._buckets.popitem(last=False)
        return bucket.take()
