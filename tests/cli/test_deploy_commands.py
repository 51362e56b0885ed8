"""A command that a deployment runs never outlives it or its time limit, whatever it starts."""

import subprocess
from pathlib import Path

import pytest

from commands import QUESTION_LIMIT_S, UPLOAD_LIMIT_S, CommandFailed, CommandTimedOut, Program
from runtime import until


def write_program(folder: Path, text: str) -> str:
    path = folder / "wrangler"
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)
    return str(path)


def is_alive(pid: str) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


@pytest.mark.parametrize("first", ["", "trap '' TERM\n"], ids=["obedient", "deaf"])
def test_time_limit_ends_all_processes(tmp_path: Path, first: str):
    """The operator reads the command, the limit and the way out; neither the program nor its children run on, even those that do
    not listen.
    """
    program = write_program(tmp_path, f"{first}sleep 1000 &\necho $! $$ >{tmp_path}/pids\nwait\nsleep 1000\n")
    pids = tmp_path / "pids"
    limit_s = 1
    while not (pids.exists() and pids.read_text().endswith("\n")):  # a busy machine may need longer to start both
        limit_s *= 2
        with pytest.raises(CommandTimedOut) as caught:
            Program(program, limit_s)("deploy", "--config", "a.toml")
    assert str(caught.value) == (
        f"{program} deploy --config a.toml did not end within {limit_s} s and was stopped: check the connection to Cloudflare and "
        "try again, or allow more with --time-limit SECONDS"
    )
    until(lambda: not any(map(is_alive, pids.read_text().split())))


def test_children_end_with_a_command(tmp_path: Path):
    """What a command leaves behind ends when it has ended."""
    program = write_program(tmp_path, f"sleep 1000 >&- 2>&- &\necho $! >{tmp_path}/pid\necho done\n")
    assert Program(program)("whoami") == "done\n"
    pid = (tmp_path / "pid").read_text().strip()
    until(lambda: not is_alive(pid))


def test_nobody_is_asked(tmp_path: Path):
    """A command that asks a question gets no answer, rather than waiting for one that nobody can see."""
    assert Program(write_program(tmp_path, "cat\necho asked\n"))("whoami") == "asked\n"


@pytest.mark.parametrize(
    ("events", "code"),
    [("", None), ('{"type": "command-failed", "code": 10007}\n', 10007), ('{"type": "command-failed"}\n', None)],
)
def test_code_of_the_api(tmp_path: Path, events: str, code: int | None):
    """A failure has the code with which Cloudflare's API refused, if it was that which did, and all that was printed."""
    (tmp_path / "events").write_text('{"type": "wrangler-session"}\n' + events)
    program = write_program(
        tmp_path, f'cp {tmp_path}/events "$WRANGLER_OUTPUT_FILE_PATH"\necho said\necho complained >&2\nexit 3\n'
    )
    with pytest.raises(CommandFailed) as caught:
        Program(program)("whoami")
    assert (caught.value.code, caught.value.output) == (code, "said\n")
    assert str(caught.value) == f"{program} whoami failed:\ncomplained\nsaid"


@pytest.mark.parametrize(
    ("command", "limit_s"),
    [
        (("deploy", "--tag", "a"), UPLOAD_LIMIT_S),
        (("sync", "--force"), UPLOAD_LIMIT_S),
        (("d1", "migrations", "apply", "data"), UPLOAD_LIMIT_S),
        (("d1", "info", "data"), QUESTION_LIMIT_S),
        (("deployments", "list"), QUESTION_LIMIT_S),
        (("versions", "deploy", "a@100"), QUESTION_LIMIT_S),
        (("rollback", "a"), QUESTION_LIMIT_S),
    ],
)
def test_limits(command: tuple[str, ...], limit_s: float):
    """Every command has a limit, uploads and migrations a longer one, and the operator's own counts for all."""
    assert Program("wrangler").choose_limit(command) == limit_s
    assert Program("wrangler", 7).choose_limit(command) == 7
