"""Free ports of the local host for servers that tests start."""

import secrets
import socket
from contextlib import ExitStack
from typing import Final

# Below the ports that Linux gives to outgoing connections: one of those could take a port before its server does.
FIRST: Final = 20000
COUNT: Final = 12000


def find_free_port() -> int:
    """Return a port on which nobody listens, neither by TCP nor by UDP: a name server needs both."""
    while True:
        port = FIRST + secrets.randbelow(COUNT)
        if _is_free(port):
            return port


def _is_free(port: int) -> bool:
    with ExitStack() as stack:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            probe = stack.enter_context(socket.socket(socket.AF_INET, kind))
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return False
    return True
