"""Defects of the compiler to plant."""

from typing import Final

from simulation.plants import Plant

_COMPILER: Final = "services/compiler/"
_JOBS: Final = f"{_COMPILER}jobs/job_store.py"
_PUBLISHER: Final = f"{_COMPILER}published/builds/publisher.py"
_WORKFLOW: Final = f"{_COMPILER}published/builds/build_workflow.py"


def _plant(name: str, *patches: tuple[str, str, str]) -> Plant:
    return Plant(name, "compiler", patches)


COMPILER_PLANTS: Final = (
    _plant(
        "a message is acknowledged before its job has run, and never sent again",
        (
            f"{_COMPILER}jobs/consumer.py",
            "        began_s = self.clock.now()\n        spent = ",
            "        delivery.ack()\n        began_s = self.clock.now()\n        spent = ",
        ),
        (_JOBS, "   or (state = 'running' and lease_ms < ?1)\norder", "order"),
    ),
    _plant(
        "whoever finishes last settles a job",
        (_JOBS, "and state in ('queued', 'running') and attempts = coalesce(?, attempts)", "and coalesce(?, 1)"),
    ),
    _plant(
        "the lease of a job never expires",
        (
            _JOBS,
            "(state = 'queued' or (state = 'running' and lease_ms < ?1))\nreturning",
            "state = 'queued'\nreturning",
        ),
        (_JOBS, "   or (state = 'running' and lease_ms < ?1)\norder", "order"),
    ),
    _plant(
        "a message is sent before its row is stored",
        (
            _JOBS,
            "        return body if (await self.database.run(_INSERT, *row)).changes else None\n",
            (
                "        await self.send(priority, body)\n"
                "        return body if (await self.database.run(_INSERT, *row)).changes else None\n"
            ),
        ),
        (
            _JOBS,
            "        await self.send(priority, body)\n        await self.database.run(\n",
            "        await self.database.run(\n",
        ),
        (_JOBS, "        await self.database.run(_INSERT, *row)\n\n", "\n"),
    ),
    _plant(
        "an address is written before the version is complete",
        (
            _PUBLISHER,
            "            await self._stage(build_id, ADBLOCK, file)\n",
            (
                "            await self._stage(build_id, ADBLOCK, file)\n"
                "            await self.bucket.put(\n"
                "                address_key(name, ADBLOCK), file.content[: len(file.content) // 2], custom_metadata=file.metadata\n"
                "            )\n"
            ),
        ),
    ),
    _plant(
        "an address is written before its build is sure to hold the list",
        (
            _PUBLISHER,
            "            await self._stage(build_id, ADBLOCK, file)\n",
            (
                "            await self._stage(build_id, ADBLOCK, file)\n"
                "            await self.bucket.put(address_key(name, ADBLOCK), b'', custom_metadata=UNBUILT)\n"
            ),
        ),
    ),
    _plant(
        "the row of an idempotency key is stored after the work",
        (
            f"{_COMPILER}guard/idempotency.py",
            '        reply = await work(Ticket(row["unique_part"], is_repeatable=True))\n',
            "        reply = await work(Ticket(unique, is_repeatable=True))\n",
        ),
    ),
    _plant(
        "an idempotency key is not looked at",
        (f"{_COMPILER}guard/idempotency.py", "        if key is None:\n", "        if key:\n"),
    ),
    _plant(
        "a sweep ignores running jobs",
        (_JOBS, "   or (state = 'running' and lease_ms < ?1)\norder", "order"),
    ),
    _plant(
        "the sweeper is not armed again",
        (
            f"{_COMPILER}jobs/sweeper.py",
            "            await self._alarm.set(now + INTERVAL_S)\n            await self._jobs",
            "            await self._jobs",
        ),
    ),
    _plant(
        "a rollback restores the version before the wanted one",
        (
            f"{_COMPILER}published/builds/build_steps.py",
            "if one.version == version), None)",
            "if one.version <= version - 1), None)",
        ),
        (
            f"{_COMPILER}published/builds/build_steps.py",
            "self._load_rules(name, version, found.facts",
            "self._load_rules(name, found.version, found.facts",
        ),
    ),
    _plant(
        "a build that has lost its list goes on",
        (
            f"{_COMPILER}published/builds/build_queue.py",
            "        if not renewed.changes:\n",
            "        if renewed.changes > 1:\n",
        ),
    ),
    _plant(
        "two builds of a list run beside each other",
        (f"{_COMPILER}published/builds/build_queue.py", "    other.started_ms is not null\n    or", "    0\n    or"),
    ),
    _plant(
        "a build takes the number of the last version",
        (
            "core/compiler/published/versions.py",
            "VersionStamp(previous.version + 1, max",
            "VersionStamp(max(previous.version, 2), max",
        ),
    ),
    _plant(
        "the row of a good copy is believed",
        (
            f"{_COMPILER}published/sources/good_copies.py",
            "            if await self.bucket.head(key) is None:\n",
            (
                '            known = {row["source"]: row["digest"] for row in await self._load_rows(name)}\n'
                "            if known.get(outcome.source) != digest:\n"
            ),
        ),
    ),
    _plant(
        "the content of an ended job stays",
        (
            _JOBS,
            "        await self.bucket.delete(JOB_CONTENT_PREFIX + request_id)\n        return [",
            "        return [",
        ),
    ),
    _plant(
        "staged builds are not removed",
        (_WORKFLOW, "        await self.publisher.remove_unused(name, build_id)\n", ""),
        (f"{_COMPILER}published/operator.py", "        await self._attempt(self._remove_staged())\n", ""),
    ),
    _plant(
        "the object of a client does not count",
        (
            f"{_COMPILER}guard/rate_limit_window.py",
            "count=count + cost if allowed else count,",
            "count=count,",
        ),
    ),
    _plant(
        "a cancelled job is completed",
        (
            _JOBS,
            "and state in ('queued', 'running') and attempts = coalesce(?, attempts)",
            "and attempts = coalesce(?, attempts)",
        ),
    ),
    _plant(
        "a workflow that cannot be stored is accepted",
        (
            f"{_COMPILER}workflows/starter.py",
            '            if error.retryable:\n                raise NotAccepted("the workflow',
            '            if error.retryable:\n                return\n                raise NotAccepted("the workflow',
        ),
    ),
)
