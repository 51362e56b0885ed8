"""Free ports of the local host for servers that tests start."""

import fcntl
import os
import secrets
import socket
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Final

# Below the ports that Linux gives to outgoing connections: one of those could take a port before its server does.
FIRST: Final = 20000
COUNT: Final = 12000
RESERVATIONS: Final = Path(tempfile.gettempdir()) / f"sluice-ports-{os.getuid()}"


def find_free_port() -> int:
    """Return a port on which nobody listens, neither by TCP nor by UDP: a name server needs both.

    No other process of this user gets the same one, although its server starts only later.
    """
    while True:
        port = FIRST + secrets.randbelow(COUNT)
        if _reserve(port) and _is_free(port):
            return port


def _reserve(port: int) -> bool:
    """Take a lock that this process holds until it ends."""
    RESERVATIONS.mkdir(exist_ok=True)
    file = os.open(RESERVATIONS / str(port), os.O_CREAT | os.O_WRONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return False
    return True


def _is_free(port: int) -> bool:
    with ExitStack() as stack:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            probe = stack.enter_context(socket.socket(socket.AF_INET, kind))
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return False
    return True
