"""Ports for servers of the tests, whose parts run side by side."""

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

import ports

FIND = """
import secrets
import ports

draws = iter([{taken}, *range({taken} + 1, ports.COUNT), *range({taken})])
secrets.randbelow = lambda _: next(draws)
print(ports.find_free_port())
"""


def test_no_two_get_the_same(monkeypatch: pytest.MonkeyPatch):
    """Who draws the port of another, whose server has not started yet, draws again: another process, and this one."""
    first = ports.find_free_port()
    taken = first - ports.FIRST
    environment = os.environ | {"PYTHONPATH": str(Path(ports.__file__).parent)}
    program = FIND.format(taken=taken)
    found = subprocess.check_output([sys.executable, "-c", program], env=environment, text=True)
    draws = iter([taken, *range(taken + 1, ports.COUNT), *range(taken)])
    monkeypatch.setattr(secrets, "randbelow", lambda _: next(draws))
    assert first not in {int(found), ports.find_free_port()}
