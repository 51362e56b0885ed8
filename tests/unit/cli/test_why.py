"""`sluice why`: a name is found however it is written."""

import io
import json
from pathlib import Path

import pytest

from sluice.cli.main import USAGE_ERROR, run
from sluice.cli.standard_streams import Streams


def ask(folder: Path, name: str, rules: str) -> tuple[int, bytes, str]:
    (folder / "a.txt").write_text(rules, encoding="utf-8")
    (folder / "c.json").write_text(json.dumps({"name": "T", "sources": [{"source": str(folder / "a.txt")}]}))
    streams = Streams(io.BytesIO(), stdout := io.BytesIO(), stderr := io.StringIO())
    return run(["why", name, "-c", str(folder / "c.json"), "--json"], streams), stdout.getvalue(), stderr.getvalue()


@pytest.mark.parametrize("rule", ["||bücher.de^", "||xn--bcher-kva.de^", "0.0.0.0 Bücher.de", "BÜCHER.de"])
@pytest.mark.parametrize("name", ["bücher.de", "BÜCHER.DE.", "xn--bcher-kva.de", "https://Bücher.de:8443/weg?x=1"])
def test_international_names(tmp_path: Path, rule: str, name: str):
    """Either side may be in Unicode or in Punycode, in any case, with a final dot, or in an address."""
    code, answer, _ = ask(tmp_path, name, f"||a.de^\n{rule}\n")
    assert code == 0
    assert (json.loads(answer)["verdict"], json.loads(answer)["rule"]) == ("blocked", rule)


def test_no_name(tmp_path: Path):
    """A text without a name is an error that shows how a name is written."""
    code, _, message = ask(tmp_path, "a b", "||a.de^\n")
    assert code == USAGE_ERROR
    assert "ads.example.org" in message
