"""`sluice compile` in place of hostlist-compiler."""

import io
import json
import signal
import subprocess
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event
from typing import Any

from cli.sluice_process import COMMAND, ENVIRONMENT, host, sluice
from runtime import PATIENCE_S
from sluice.cli.main import run
from sluice.cli.standard_streams import Streams


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")


def configure(folder: Path, *sources: str, **fields: Any) -> None:
    value = {"name": "Größe", "sources": [{"source": source} for source in sources], **fields}
    (folder / "c.json").write_text(json.dumps(value), encoding="utf-8-sig")


def test_a_configuration(tmp_path: Path):
    """A configuration is compiled; files are relative to the working directory, and nothing is printed."""
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "a.txt").write_text("||ä.example^\n!#include b.txt\n", encoding="utf-8")
    (tmp_path / "lists" / "b.txt").write_text("||b^", encoding="utf-8")
    configure(tmp_path, "lists/a.txt")
    done = sluice("compile", "-c", "c.json", "-o", "out.txt", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    lines = (tmp_path / "out.txt").read_text(encoding="utf-8").split("\n")
    assert lines[0].startswith("! Checksum: ")
    assert lines[2] == "! Title: Größe"
    assert lines[-5:] == ["!", "! Source: lists/a.txt", "!", "||ä.example^", "||b^"]


def test_what_was_written(tmp_path: Path):
    """On a terminal a compilation ends with a line that names its file; a pipe gets none."""
    source, output = tmp_path / "rules.txt", tmp_path / "list.txt"
    source.write_text("||a.example^\n||b.example^\n")
    terminal, pipe = Terminal(), io.StringIO()
    for stderr in (terminal, pipe):
        streams = Streams(io.BytesIO(), io.BytesIO(), stderr)
        assert run(["compile", "-i", str(source), "-t", "adblock", "-o", str(output)], streams) == 0
    lines = len(output.read_text().splitlines())
    assert terminal.getvalue().endswith(f"Wrote {lines} lines to {output}\n")
    assert pipe.getvalue() == ""


def test_inputs(tmp_path: Path):
    """Sources on the command line get HostlistCompiler's name and transformations."""
    write(tmp_path, a="# c\n0.0.0.0 a.com\n0.0.0.0 x.a.com", b="b.com\na.com\n")
    done = sluice("compile", "-i", "a.txt", "-i", "b.txt", "-t", "hosts", "-o", "out.txt", folder=tmp_path)
    assert done.returncode == 0
    lines = (tmp_path / "out.txt").read_text().split("\n")
    assert lines[2] == "! Title: Blocklist"
    assert lines[-4:] == ["!", "||a.com^", "||b.com^", ""]


def test_from_the_web(tmp_path: Path):
    """A URL is downloaded, also from a private host, and includes are relative to it."""
    pages = {"/l/a.txt": b"||a^\r\n!#include b.txt", "/l/b.txt": b"||b^"}
    with host(dict(pages)) as address:
        done = sluice("compile", "-i", f"{address}/l/a.txt", "-v", "-o", "out.txt", folder=tmp_path)
    assert done.returncode == 0
    assert f"Read {address}/l/a.txt: 2 lines in" in done.stderr.decode()
    assert "Wrote " in done.stderr.decode()


def test_a_file_includes_an_address(tmp_path: Path):
    """A list on disk may include one from the web."""
    with host({"/b.txt": b"||b^"}) as address:
        write(tmp_path, a=f"||a^\n!#include {address}/b.txt\n||z^")
        configure(tmp_path, "a.txt")
        done = sluice("compile", "-c", "c.json", "-o", "-", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().split("\n")[-3:] == ["||a^", "||b^", "||z^"]


def test_report_and_benchmark(tmp_path: Path):
    """A report lists each dropped line, a benchmark each stage."""
    write(tmp_path, a="||a^\n! ç\n")
    configure(tmp_path, "a.txt", transformations=["RemoveComments"])
    done = sluice("compile", "-c", "c.json", "-o", "out.txt", "--report", "r.json", "--benchmark", folder=tmp_path)
    assert done.returncode == 0
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert [(line["file"], line["line"], line["text"]) for line in report["dropped"]] == [("a.txt", 2, "! ç")]
    assert [line.split()[0] for line in done.stdout.decode().splitlines()] == [
        *("stage", "download", "RemoveComments", "header", "total")
    ]


def test_a_failed_compilation(tmp_path: Path):
    """A failure prints one sentence, exits with 1, and keeps the old list."""
    (tmp_path / "out.txt").write_text("old")
    configure(tmp_path, "none.txt")
    done = sluice("compile", "-c", "c.json", "-o", "out.txt", folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr == b"sluice: Source none.txt: the file cannot be read: No such file or directory\n"
    assert (tmp_path / "out.txt").read_text() == "old"


def test_a_bad_configuration(tmp_path: Path):
    """The message names the field of a mistake, and the file that is missing or not JSON."""
    configure(tmp_path, "a.txt", transformations=["Nope"])
    (tmp_path / "bad.json").write_text("{")
    for name, words in (("c.json", "transformations[0]"), ("bad.json", "is not JSON"), ("none.json", "none.json")):
        done = sluice("compile", "-c", name, "-o", "out.txt", folder=tmp_path)
        assert done.returncode == 1
        assert words in done.stderr.decode()
        assert done.stderr.count(b"\n") == 1
    assert not (tmp_path / "out.txt").exists()


def test_usage_errors(tmp_path: Path):
    """Wrong arguments exit with 2."""
    for arguments in (
        [],
        ["compile"],
        ["compile", "-o", "o"],
        ["compile", "-i", "a"],
        ["compile", "-i", "a", "-c", "c", "-o", "o"],
        ["compile", "-i", "a", "-t", "domains", "-o", "o"],
        ["transform", "-t", "Nope"],
        ["transform", "-t", "Validate", "ValidateAllowIp"],
        ["nope"],
    ):
        done = sluice(*arguments, folder=tmp_path)
        assert done.returncode == 2, arguments
        assert b"Traceback" not in done.stderr


def test_help_and_version(tmp_path: Path):
    """Help and version go to standard output."""
    assert sluice("--version", folder=tmp_path).stdout.startswith(b"sluice ")
    assert b"transform" in sluice("--help", folder=tmp_path).stdout
    assert b"--report" in sluice("compile", "--help", folder=tmp_path).stdout


def test_a_device_is_not_replaced(tmp_path: Path):
    """Writing to standard output by its path writes there and replaces nothing."""
    write(tmp_path, a="||a^")
    configure(tmp_path, "a.txt")
    done = sluice("compile", "-c", "c.json", "-o", "/dev/stdout", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.endswith(b"||a^")


def test_interrupted(tmp_path: Path):
    """Ctrl-C stops a compilation at once and silently, with exit code 130."""
    asked, over = Event(), Event()

    def silent(_handler: BaseHTTPRequestHandler) -> None:
        asked.set()
        over.wait(PATIENCE_S)

    with host({"/a.txt": silent}) as address:
        arguments = ("compile", "-v", "-i", f"{address}/a.txt", "-o", "out.txt")
        with subprocess.Popen([*COMMAND, *arguments], cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE) as process:
            assert process.stderr
            assert process.stderr.readline().startswith(b"Reading ")
            assert asked.wait(PATIENCE_S)
            process.send_signal(signal.SIGINT)
            rest = process.stderr.read()
            assert process.wait(PATIENCE_S) == 130
        over.set()  # not before the command has ended
    assert rest == b""
    assert list(tmp_path.iterdir()) == []


def test_transform(tmp_path: Path):
    """Lines pass from standard input to standard output as UTF-8, independent of the locale."""
    body = "! c\n||ä^\r\n||ä^".encode() + b"\n\xff"
    done = sluice("transform", "-t", "RemoveComments", "Deduplicate", folder=tmp_path, stdin=body)
    assert (done.returncode, done.stdout, done.stderr) == (0, "||ä^".encode() + b"\n\xff", b"")
    done = sluice("transform", "--json", "--exclude", "b", folder=tmp_path, stdin=b'["a", "b", "\\ud800"]')
    assert json.loads(done.stdout) == ["a", "\ud800"]


def test_closed_pipe(tmp_path: Path):
    """The command exits silently if the reader closes the pipe early."""
    command = f"yes | head -n 300000 | {' '.join(COMMAND)} transform | head -n 1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, check=False)  # noqa: S602
    assert (done.stdout, done.stderr) == (b"y\n", b"")


def test_a_failed_source_changes_nothing(tmp_path: Path):
    """A page, a message, nothing, a circle of redirects or a dangerous pattern ends in exit 1, and the old list stays."""

    def redirect(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", "/circle")
        handler.end_headers()

    pages: dict[str, Any] = {
        "/message": b"404: Not Found",
        "/json": b'{"error":"quota"}',
        "/empty": b"",
        "/circle": redirect,
    }
    (tmp_path / "out.txt").write_text("good")
    write(tmp_path, a="||a.com^", page="This account has been suspended.", nothing="")
    (tmp_path / "x.json").write_text('{"name": "X", "sources": [{"source": "a.txt"}], "exclusions": ["/^(a|a)*$/"]}')
    (tmp_path / "y.json").write_text('{"name": "Y", "sources": [{"source": "a.txt"}], "transformations": ["Compres"]}')
    with host(pages) as address:
        inputs = [("-i", f"{address}{path}") for path in pages]
        for arguments in (*inputs, ("-i", "page.txt"), ("-i", "nothing.txt"), ("-c", "x.json"), ("-c", "y.json")):
            done = sluice("compile", *arguments, "-o", "out.txt", folder=tmp_path)
            assert (done.returncode, done.stdout) == (1, b""), arguments
            assert done.stderr.startswith(b"sluice: "), arguments
            assert done.stderr.count(b"\n") == 1, arguments
    assert (tmp_path / "out.txt").read_text() == "good"


def test_standard_output(tmp_path: Path):
    """`-o -` writes the list, and nothing else, to standard output."""
    write(tmp_path, a="||a.com^")
    done = sluice("compile", "-i", "a.txt", "-o", "-", "--benchmark", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith(b"! Checksum: ")
    assert done.stdout.endswith(b"||a.com^\n")
    assert b"total" in done.stderr
    assert not (tmp_path / "-").exists()
