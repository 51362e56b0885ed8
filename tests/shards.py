"""Splits the test modules into parts of about the same length, the same ones every time.

A scheduler that deals modules to whoever is free would give another order on every run. The split here depends on names and
on the table below alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

# Seconds that the long modules take; the others take about `SHORT_S`. A stale figure costs balance, nothing else.
LENGTHS_S = {
    "workerd/test_preload_purges.py": 155,
    "workerd/test_news_service.py": 150,
    "workerd/test_compiler_service.py": 130,
    "workerd/test_limits.py": 120,
    "workerd/test_locked_state.py": 120,
    "workerd/test_compiler_memory.py": 115,
    "workerd/test_preload_failures.py": 110,
    "workerd/test_news_commands.py": 105,
    "workerd/test_preload_load.py": 105,
    "workerd/test_preload_api.py": 100,
    "browser/test_preload_page.py": 95,
    "workerd/test_compiler_fuzz.py": 95,
    "workerd/test_wrong_use.py": 80,
    "workerd/test_openapi.py": 75,
    "workerd/test_published_lists.py": 60,
    "browser/test_safety.py": 60,
    "workerd/test_crash.py": 60,
    "browser/test_compiler_page.py": 55,
    "cli/test_deploy_modules.py": 55,
    "workerd/test_workers.py": 55,
    "workerd/test_preload_front.py": 55,
    "workerd/test_compiler_workflows.py": 50,
    "browser/test_demo.py": 45,
    "workerd/test_compiler_strangers.py": 40,
    "workerd/test_compiler_guard.py": 40,
    "browser/test_docs_page.py": 40,
    "browser/test_lists_page.py": 35,
    "workerd/test_news_crash.py": 35,
    "workerd/test_preload_serving.py": 35,
    "workerd/test_news_feeds.py": 35,
    "browser/test_news_page.py": 35,
    "cli/test_deploy_process.py": 30,
    "workerd/test_news_operations.py": 25,
}
SHORT_S = 10
# The modules of such a folder share what is costly to start, so they run in one part. Those named after it have their own.
TOGETHER = {"browser/": {"browser/test_demo.py"}}


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `total`, counted from 1."""

    number: int
    total: int

    @classmethod
    def parse(cls, text: str) -> Self:
        number, _, total = text.partition("/")
        shard = cls(int(number), int(total))
        if not 1 <= shard.number <= shard.total:
            raise ValueError(f"there is no part {text}")
        return shard

    def choose(self, modules: Iterable[str]) -> set[str]:
        """Return the modules of this part: the longest first, each to the part that has the least to do so far."""
        parts: list[set[str]] = [set() for _ in range(self.total)]
        load_s = [0] * self.total
        for group in sorted(_group(modules), key=lambda names: (-_length_s(names), names)):
            least = load_s.index(min(load_s))
            parts[least].update(group)
            load_s[least] += _length_s(group)
        return parts[self.number - 1]


def _group(modules: Iterable[str]) -> list[list[str]]:
    """Return the modules that run in one part, sorted; most run for themselves."""
    groups: dict[str, list[str]] = {}
    for module in sorted(modules):
        shared = (folder for folder, alone in TOGETHER.items() if module.startswith(folder) and module not in alone)
        groups.setdefault(next(shared, module), []).append(module)
    return list(groups.values())


def _length_s(group: Iterable[str]) -> int:
    return sum(LENGTHS_S.get(module, SHORT_S) for module in group)
