"""Addresses that servers may listen on: those that only this machine can reach."""

from __future__ import annotations

import ipaddress
import re
import socket

_ENDPOINT = re.compile(r"(?:(?:\[(?P<v6>[^\[\]]+)\]|(?P<host>[^\[\]:]+)):)?(?P<port>[0-9]{1,5})", re.ASCII)
_PORTS = 65_536
_LOCAL = "127.0.0.1"


def loopback(host: str) -> str:
    """The loopback address of a host.

    Raises:
        ValueError: other machines can reach it, or there is no such host.

    Example:
        >>> loopback("127.0.0.1"), loopback("::1")
        ('127.0.0.1', '::1')
        >>> loopback("0.0.0.0")
        Traceback (most recent call last):
        ValueError: '0.0.0.0' can be reached from other machines; listen on 127.0.0.1, ::1 or localhost
    """
    try:
        address = str(socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][4][0])
    except (OSError, UnicodeError) as error:
        raise ValueError(f"no host {host!r}: {error}") from None
    if not ipaddress.ip_address(address.partition("%")[0]).is_loopback:
        raise ValueError(
            f"{host!r} can be reached from other machines; listen on 127.0.0.1, ::1 or localhost"
        )
    return address


def endpoint(text: str) -> tuple[str, int]:
    """The loopback address and the port in ``PORT``, ``HOST:PORT`` or ``[ADDRESS]:PORT``.

    Raises:
        ValueError: the text is none of these, or other machines can reach the address.

    Example:
        >>> endpoint("9464"), endpoint("127.0.0.1:0"), endpoint("[::1]:9464")
        (('127.0.0.1', 9464), ('127.0.0.1', 0), ('::1', 9464))
        >>> endpoint("here:99999")
        Traceback (most recent call last):
        ValueError: 'here:99999' is no address and port; for example 127.0.0.1:9464
    """
    match = _ENDPOINT.fullmatch(text)
    if match is None or int(match["port"]) >= _PORTS:
        raise ValueError(f"{text[:200]!r} is no address and port; for example {_LOCAL}:9464")
    return loopback(match["v6"] or match["host"] or _LOCAL), int(match["port"])
