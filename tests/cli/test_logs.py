"""How the local runtime prints the Workers' logs: for people on a terminal, as JSON anywhere else."""

import json
import os
import pty
import re
import subprocess
from collections.abc import Mapping

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
# Clears the screen, begins a line that looks like another event, turns the direction of the text, and starts a C1 sequence.
HOSTILE = "a\x1b[2J\r\n00:00:00 edge-preload \u202egnp.exe\x9b31m\u2028"
PROGRAM = """
import {{ printLine, printLog, printPlain, setFooter, useJson }} from "./logs.mjs";
{prepare}
printPlain("Ready on http://127.0.0.1:8787");
setFooter(["edge-preload  http://edge-preload.localhost:8787/"]);
printLog({{ level: "log", message: "\\u001eedge-preload\\u001f " + {event} }});
printLine("workerd", "a plain line");
"""


def run(*, on_terminal: bool, prepare: str = "", event: Mapping[str, object] = EVENT) -> str:
    program = PROGRAM.format(prepare=prepare, event=json.dumps(json.dumps(event, ensure_ascii=False)))
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


@pytest.mark.parametrize("field", ["message", "name", "event", "worker"])
def test_names_cannot_steer_the_terminal(field: str):
    """Whatever a caller or an origin has named stands in its line as text: nothing of it moves the cursor or begins a line."""
    text = run(on_terminal=True, event={**EVENT, field: HOSTILE})
    assert "\x1b[2J" not in text
    assert not set(text) & set("\x9b\u202e\u2028")
    plain = re.sub("\x1b\\[[0-9;]*[mAJ]", "", text)
    assert len(plain.splitlines()) == len(re.sub("\x1b\\[[0-9;]*[mAJ]", "", run(on_terminal=True)).splitlines())
    assert "\\u001b[2J\\u000d\\u000a00:00:00" in plain


def test_names_in_json():
    """In JSON they are escaped too, because people read it on a terminal; the value is the same."""
    text = run(on_terminal=False, event={**EVENT, "name": HOSTILE})
    assert not set(text) & set("\x1b\x9b\u202e\u2028")
    assert json.loads(text.splitlines()[1])["name"] == HOSTILE
