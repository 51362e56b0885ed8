"""How the local runtime prints the Workers' logs: for people on a terminal, as JSON anywhere else."""

import json
import os
import pty
import re
import subprocess

import pytest

from runtime import ROOT

EVENT = {
    "time": "2026-01-02T03:04:05.678Z",
    "level": "info",
    "worker": "edge-preload",
    "event": "page.warmed",
    "url": "https://www.example.com/",
    "ms": 12,
    "reason": "",
    "id": "473e714f2c3b22f4a54da9291e533418",
    "added": ["one", "two", "three"],
    "failed": {},
    "stage": "summary",
    "message": "Warmed in the stage summary",
}
PROGRAM = """
import {{ printLine, printLog, printPlain, setFooter, useJson }} from "./logs.mjs";
{prepare}
printPlain("Ready on http://127.0.0.1:8787");
setFooter(["edge-preload  http://edge-preload.localhost:8787/"]);
printLog({{ level: "log", message: "\\u001eedge-preload\\u001f " + {event} }});
printLine("workerd", "a plain line");
"""


def run(*, on_terminal: bool, prepare: str = "") -> str:
    program = PROGRAM.format(prepare=prepare, event=json.dumps(json.dumps(EVENT)))
    command = [str(ROOT / "node_modules/.bin/node"), "--input-type=module", "-e", program]
    folder = ROOT / "scripts/local"
    if not on_terminal:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    master, slave = pty.openpty()
    with subprocess.Popen(command, cwd=folder, stdout=slave) as process:
        os.close(slave)
        output = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break  # the other end is closed
            if not part:
                break
            output += part
        process.wait()
    os.close(master)
    return output.decode()


def test_json_where_there_is_no_terminal():
    """Every line but the one that scripts wait for is an object with the name of its Worker."""
    first, *lines = run(on_terminal=False).splitlines()
    assert first == "Ready on http://127.0.0.1:8787"
    event, plain = map(json.loads, lines)
    assert event == EVENT
    assert (plain["worker"], plain["message"]) == ("workerd", "a plain line")


@pytest.mark.parametrize("prepare", ["", "useJson();"])
def test_the_line_that_scripts_wait_for_is_plain(prepare: str):
    """On a terminal too, with and without --json, it stands on a line of its own without colours."""
    lines = run(on_terminal=True, prepare=prepare).replace("\r\n", "\n").split("\n")
    assert "Ready on http://127.0.0.1:8787" in lines


def test_readable_on_a_terminal():
    """An event is one line: time, Worker, event and its values; the addresses stand below everything."""
    text = run(on_terminal=True)
    assert "page.warmed" in text
    assert "url=" in text
    assert '"event"' not in text
    plain = re.sub("\x1b\\[[0-9;]*m", "", text)
    assert "id=473e714f… added=3" in plain, "an id is known by its beginning, a list by its length"
    assert not [name for name in ("reason", "failed") if f"{name}=" in plain], "what is empty is left out"
    assert "stage=" not in plain, "the message says it already"
    assert text.rindex("edge-preload.localhost:8787") > text.index("a plain line")


def test_json_on_demand():
    """With --json a terminal gets what a file gets."""
    assert json.dumps(EVENT) in run(on_terminal=True, prepare="useJson();").replace("\r\n", "\n")
