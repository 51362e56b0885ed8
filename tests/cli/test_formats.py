"""Formats as their own programs read them: dnsmasq, unbound and named check each list, and answer by it."""

import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, Final

import pytest

from cli.sluice_process import sluice
from runtime import PATIENCE_S

LIST: Final = b"""! Title: Judged
||tree.com^
@@||open.tree.com^
|exact.com^
||*.below.com^
0.0.0.0 host.com
||hard.com^$important
@@||hard.com^
||deep.open.tree.com^$important
"""
# What the list says of each name; a format may leave out what its report lists.
BLOCKED: Final = ("tree.com", "a.tree.com", "exact.com", "a.below.com", "b.a.below.com", "host.com", "hard.com", "a.hard.com",
                  "deep.open.tree.com")  # fmt: skip
OPEN: Final = ("open.tree.com", "a.open.tree.com", "goodtree.com", "a.exact.com", "goodexact.com", "below.com", "goodbelow.com",
               "a.host.com", "com", "tree.com.net", "hard.net")  # fmt: skip
NXDOMAIN: Final = 3
ANSWER: Final = "10.9.8.7"


def find_program(name: str) -> str:
    program = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")
    if program is None:
        pytest.skip(f"{name} is not installed: apt-get install dnsmasq-base unbound bind9 bind9-utils")
    return program


def convert(folder: Path, name: str) -> tuple[Path, set[str]]:
    """Write the list in a format; returns the file and the texts of the lines that were left out."""
    done = sluice("convert", "--to", name, "--report", "report.json", folder=folder, stdin=LIST)
    assert done.returncode == 0, done.stderr
    path = folder / f"{name}.txt"
    path.write_bytes(done.stdout)
    return path, set((folder / "report.json").read_text().split('"text": "')[1:])


def check(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
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


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


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
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.kill()


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


def start_named(folder: Path, path: Path, port: int, upstream_port: int) -> tuple[str, ...]:
    assert "out-of-zone" not in check(find_program("named-checkzone"), "rpz.test", str(path))
    configuration = folder / "named.conf"
    configuration.write_text(
        f'options {{ directory "{folder}"; pid-file none; session-keyfile none; listen-on port {port} {{ 127.0.0.1; }};'
        f" listen-on-v6 {{ none; }}; recursion yes; forward only; forwarders {{ 127.0.0.1 port {upstream_port}; }};"
        ' dnssec-validation no; response-policy { zone "rpz.test"; } qname-wait-recurse no; };\n'
        f'zone "rpz.test" {{ type master; file "{path}"; }};\ncontrols {{ }};\n'
    )
    return (find_program("named"), "-g", "-c", str(configuration))


Start = Callable[[Path, Path, int, int], tuple[str, ...]]
SERVERS: Final[dict[str, tuple[Start, set[str]]]] = {
    "dnsmasq": (start_dnsmasq, set()),
    "unbound": (start_unbound, {"a.below.com", "b.a.below.com"}),
    "rpz": (start_named, set()),
}


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_blocks_what_the_list_blocks(name: str, tmp_path: Path):
    """The server accepts the list, and blocks names, their children, siblings and look-alikes as the list says."""
    start, inexpressible = SERVERS[name]
    path, _ = convert(tmp_path, name)
    with upstream() as upstream_port:
        port = free_port()
        command = start(tmp_path, path, port, upstream_port)
        with serving(*command):
            answers = {host: ask(port, host) for host in (*BLOCKED, *OPEN)}
    expected = {host: "blocked" if host not in inexpressible else "open" for host in BLOCKED}
    assert answers == {**expected, **dict.fromkeys(OPEN, "open")}


def test_formats_of_the_command_line(tmp_path: Path):
    """A list is compiled in a format to standard output, and an unknown format exits with 2 and lists the known ones."""
    (tmp_path / "a.txt").write_bytes(LIST)
    done = sluice("compile", "-i", "a.txt", "--format", "hosts", "-o", "-", folder=tmp_path)
    assert done.returncode == 0
    assert b"0.0.0.0 host.com\n" in done.stdout
    assert b"||" not in done.stdout
    commands: list[tuple[Any, ...]] = [
        ("convert", "--to", "bind"),
        ("compile", "-i", "a.txt", "--format", "bind", "-o", "x"),
    ]
    for command in commands:
        done = sluice(*command, folder=tmp_path)
        assert done.returncode == 2
        assert b"sing-box" in done.stderr
