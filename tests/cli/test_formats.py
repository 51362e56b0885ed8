"""Formats as their own programs read them: dnsmasq, unbound and named check each list, and answer by it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from cli.sluice_process import sluice
from ports import find_free_port
from resolvers import ask, check, find_program, serving, start_dnsmasq, start_unbound, upstream

LIST: Final = b"""! Title: Judged
||tree.com^
@@||open.tree.com^
|exact.com^
||*.below.com^
0.0.0.0 host.com
||hard.com^$important
@@||hard.com^
||deep.open.tree.com^$important
||solo.com^
@@|alone.solo.com^
@@||*.beneath.tree.com^
@@||far.down.tree.com^
0.0.0.0 inner.tree.com
||xn--bcher-kva.de^
"""
# What the list says of each name; a format may leave out what its report lists.
BLOCKED: Final = ("tree.com", "a.tree.com", "exact.com", "a.below.com", "b.a.below.com", "host.com", "hard.com", "a.hard.com",
                  "deep.open.tree.com", "solo.com", "a.alone.solo.com", "beneath.tree.com", "down.tree.com", "a.down.tree.com", "a.inner.tree.com",
                  "xn--bcher-kva.de")  # fmt: skip
OPEN: Final = ("open.tree.com", "a.open.tree.com", "goodtree.com", "a.exact.com", "goodexact.com", "below.com", "goodbelow.com",
               "a.host.com", "com", "tree.com.net", "hard.net", "alone.solo.com", "a.beneath.tree.com", "far.down.tree.com",
               "a.far.down.tree.com")  # fmt: skip


def convert(folder: Path, name: str) -> tuple[Path, set[str]]:
    """Write the list in a format; returns the file and the texts of the lines that were left out."""
    done = sluice("convert", "--to", name, "--report", "report.json", folder=folder, stdin=LIST)
    assert done.returncode == 0, done.stderr
    path = folder / f"{name}.txt"
    path.write_bytes(done.stdout)
    return path, set((folder / "report.json").read_text().split('"text": "')[1:])


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
    "unbound": (start_unbound, {"a.below.com", "b.a.below.com", "a.alone.solo.com"}),
    "rpz": (start_named, set()),
}


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_blocks_what_the_list_blocks(name: str, tmp_path: Path):
    """The server accepts the list, and blocks names, their children, siblings and look-alikes as the list says."""
    start, inexpressible = SERVERS[name]
    path, _ = convert(tmp_path, name)
    with upstream() as upstream_port:
        port = find_free_port()
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
