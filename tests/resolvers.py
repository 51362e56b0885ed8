"""Real name servers on the local host, started with a list: dnsmasq and unbound, in front of one that knows every name."""

import os
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Final

import pytest

from debian_packages import CACHE, NAME_SERVERS, NotAvailable, Unpacked, fetch_packages, find_installed
from runtime import PATIENCE_S

NXDOMAIN: Final = 3
ANSWER: Final = "10.9.8.7"


@cache
def _fetch() -> Unpacked | NotAvailable:
    """Download the packages, once in a run, whatever comes of it."""
    try:
        return fetch_packages(NAME_SERVERS)
    except NotAvailable as error:
        return error


def find_program(name: str) -> str:
    """Return this machine's own program, else the one of Debian's packages, which are not installed."""
    if own := find_installed(name):
        return str(own)
    packages = _fetch()
    if isinstance(packages, NotAvailable):
        pytest.skip(f"no {name}, and none from Debian's packages: {packages}")
    return str(packages.find(name))


def choose_environment(program: str) -> dict[str, str]:
    """Return the environment of a program, which finds its libraries among the packages."""
    packages = _fetch() if Path(program).is_relative_to(CACHE) else None
    return packages.environment if isinstance(packages, Unpacked) else dict(os.environ)


def check(*command: str) -> str:
    done = subprocess.run(
        command,
        env=choose_environment(command[0]),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@contextmanager
def upstream() -> Iterator[int]:
    """Answer every question for an address with the same one, on a port of the local host."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve() -> None:
            while True:
                try:
                    query, client = server.recvfrom(4096)
                except OSError:
                    return
                end = query.index(b"\0", 12) + 5
                head = query[:2] + struct.pack(">HHHHH", 0x8180, 1, 1, 0, 0)
                answer = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + socket.inet_aton(ANSWER)
                server.sendto(head + query[12:end] + answer, client)

        Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]


def ask(port: int, name: str) -> str:
    """Return `blocked` or `open` for a name, by the answer of the server."""
    question = (
        b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0" + struct.pack(">HH", 1, 1)
    )
    deadline = time.monotonic() + PATIENCE_S
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(1)
        while time.monotonic() < deadline:
            try:
                client.sendto(struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + question, ("127.0.0.1", port))
                reply = client.recv(4096)
            except (TimeoutError, ConnectionError):
                continue
            if reply[3] & 15 in {0, NXDOMAIN}:
                return "open" if socket.inet_aton(ANSWER) in reply else "blocked"
    pytest.fail(f"no answer for {name}")


@contextmanager
def serving(*command: str) -> Iterator[None]:
    with (
        tempfile.TemporaryFile("w+") as output,
        subprocess.Popen(
            command, env=choose_environment(command[0]), stdout=output, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            yield
        finally:
            ended = process.poll()
            process.kill()
            output.seek(0)
            if ended is not None:
                pytest.fail(f"{command[0]} ended with {ended}: {output.read()}")


def start_dnsmasq(folder: Path, path: Path, port: int, upstream_port: int) -> tuple[str, ...]:
    program = find_program("dnsmasq")
    check(program, "--test", "-C", str(path))
    options = (
        f"-d -p {port} --no-resolv --no-hosts --listen-address=127.0.0.1 --bind-interfaces --pid-file= --user=root"
    )
    return (
        program,
        *options.split(),
        f"--server=127.0.0.1#{upstream_port}",
        "-C",
        str(path),
        f"--dhcp-leasefile={folder}/l",
    )


def start_unbound(folder: Path, path: Path, port: int, upstream_port: int) -> tuple[str, ...]:
    configuration = folder / "unbound.conf"
    configuration.write_text(
        f'server:\n chroot: ""\n username: ""\n directory: "{folder}"\n pidfile: ""\n interface: 127.0.0.1\n port: {port}\n'
        f' do-not-query-localhost: no\n module-config: "iterator"\n use-syslog: no\ninclude: "{path}"\n'
        f'forward-zone:\n name: "."\n forward-addr: 127.0.0.1@{upstream_port}\nremote-control:\n control-enable: no\n'
    )
    check(find_program("unbound-checkconf"), str(configuration))
    return (find_program("unbound"), "-d", "-c", str(configuration))
