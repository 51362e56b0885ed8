"""Cloudflare's free plan: which Workers it can run, and the configs that it takes.

The figures are processor time of the whole local runtime for one call, on a machine with 2 cores.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from worker_config import WorkerConfig

# Isolates ask a zone's object so seldom that 100,000 requests a day are enough, and an alarm makes as few as it may.
VARIABLES: Final = {"edge-preload": {"PURGE_DELAY_S": "30", "PRELOAD_SUBREQUESTS": "50"}}
CPU_MS: Final = 10  # what the plan gives one invocation


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a Worker can do its work on the free plan, and why."""

    fits: bool
    reason: str


VERDICTS: Final[dict[str, Verdict]] = {
    "adblock-compiler": Verdict(False, f"a list of 1,000 lines takes 37 ms and EasyList 500, and {CPU_MS} are given"),
    "edge-preload": Verdict(
        False, f"a visit takes 6 ms, but to warm a page takes 56 and its cron 23, and {CPU_MS} are given"
    ),
    "sluice-tail": Verdict(False, "tail Workers need the paid plan"),
    "worker-api": Verdict(
        True, f"a page of a few stories takes 7 to 12 ms, and {CPU_MS} are given; with many it would fail"
    ),
    "worker-news-processor": Verdict(False, f"one stage of an article takes 20 ms and more, and {CPU_MS} are given"),
    "worker-news-updater": Verdict(False, f"a run with one feed takes 37 ms, and {CPU_MS} are given"),
}
UNKNOWN: Final = Verdict(False, "nobody has measured it: add it to scripts/remote/free_plan.py")


def judge(config: WorkerConfig) -> Verdict:
    return VERDICTS.get(config.name, UNKNOWN)


@contextmanager
def without_paid_settings(config: WorkerConfig) -> Iterator[WorkerConfig]:
    """Yield the config without what Cloudflare refuses on the free plan, limits and tail consumers, and with its variables.

    It is a file beside the real one for as long as it is needed, because its paths are relative to its folder.
    """
    text = re.sub(r"^\[limits\]\n(?:[^\[\n].*\n)*", "", config.path.read_text(), flags=re.MULTILINE)
    text = re.sub(r"^tail_consumers = .*\n", "", text, flags=re.MULTILINE)
    for name, value in VARIABLES.get(config.name, {}).items():
        line = f'{name} = "{value}"\n'
        text, count = re.subn(rf"^{name} = .*\n", line, text, flags=re.MULTILINE)
        if not count:
            before, table, after = text.partition("[vars]\n")
            text = before + (table or "\n[vars]\n") + line + after
    path = config.path.with_name(f".free-plan.{config.path.name}")
    path.write_text(text)
    try:
        yield WorkerConfig.read(path)
    finally:
        path.unlink()
