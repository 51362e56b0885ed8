"""Cron expressions as the platform reads them, in UTC."""

import json
import subprocess

import pytest

from runtime import ROOT

SCRIPT = """
import { isDue } from "./scripts/local/cron.mjs";
const [expression, at] = JSON.parse(process.argv[1]);
console.log(isDue(expression, new Date(at)));
"""


@pytest.mark.parametrize(
    ("expression", "at", "due"),
    [
        ("* * * * *", "2026-11-16T03:07:00Z", True),
        ("0 * * * *", "2026-11-16T03:00:00Z", True),
        ("0 * * * *", "2026-11-16T03:01:00Z", False),
        ("0 */6 * * *", "2026-11-16T18:00:00Z", True),
        ("0 */6 * * *", "2026-11-16T17:00:00Z", False),
        ("5,35 9-17 * * *", "2026-11-16T17:35:00Z", True),
        ("5,35 9-17 * * *", "2026-11-16T18:35:00Z", False),
        ("10-30/10 * * * *", "2026-11-16T00:20:00Z", True),
        ("10-30/10 * * * *", "2026-11-16T00:40:00Z", False),
        ("0 0 16 11 *", "2026-11-16T00:00:00Z", True),
        ("0 17 * * 1", "2026-11-15T17:00:00Z", True),
        ("0 17 * * sun", "2026-11-15T17:00:00Z", True),
        ("10 7 * * mon-fri", "2026-11-20T07:10:00Z", True),
        ("10 7 * * mon-fri", "2026-11-21T07:10:00Z", False),
        ("0 0 1 NOV *", "2026-11-01T00:00:00Z", True),
    ],
)
def test_due(expression: str, at: str, due: bool):
    """An expression is due at the minutes that it names, and at no other."""
    command = ["node_modules/.bin/node", "--input-type=module", "-e", SCRIPT, json.dumps([expression, at])]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == json.dumps(due)


def test_not_understood():
    """What the local clock cannot read is refused with a sentence, not taken for never."""
    command = [
        "node_modules/.bin/node",
        "--input-type=module",
        "-e",
        SCRIPT,
        json.dumps(["59 23 LW * *", "2026-11-16"]),
    ]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert 'LW in the cron "59 23 LW * *" is not supported by --cron' in told.stderr
