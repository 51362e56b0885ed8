"""Goes back to what ran before a deployment: exactly the noted versions, and only where that deployment's still run.

All Workers are looked at before one is changed: what runs must be the deployment's or older. It stops at the first
Worker that Cloudflare does not take back, because those after it may be what that one calls.
`tests/cli/test_rollback.py` tries this with the real wrangler, against a stand-in of Cloudflare's API.
"""

from dataclasses import dataclass

from commands import CommandFailed, DeployError, Wrangler, print_line
from journal import Content, Journal, Note
from versions import Deployment, describe, read_deployment, read_tag, restore
from worker_config import WorkerConfig


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Nothing of the deployment runs."""

    runs: Deployment


@dataclass(frozen=True, slots=True)
class Restorable:
    """The deployment's version runs, and the former ones are known."""

    note: Note


@dataclass(frozen=True, slots=True)
class NoPreviousVersion:
    """The deployment was the Worker's first."""


@dataclass(frozen=True, slots=True)
class ForeignVersion:
    """A version runs that came neither with the deployment nor before it."""

    note: Note
    runs: Deployment


Step = Unchanged | Restorable | NoPreviousVersion | ForeignVersion


def roll_back(
    configs: list[WorkerConfig], named: list[str], journal: Journal, run: Wrangler, *, force: bool = False
) -> None:
    """Let the versions run that ran before the last deployment, or before the last of each Worker that was named.

    Callers come before what they call, the reverse of a deployment. All is looked at before anything is changed.
    """
    chosen = _choose(configs, named, journal)
    if not chosen:
        print_line("the last deployment ended before an upload: nothing is to be rolled back")
    steps = {config.name: _plan(config, journal.content.notes[config.name], run) for config in chosen}
    if not force:
        _refuse_foreign(steps)
    for config in reversed(chosen):
        _perform(config, steps[config.name], run)
    if not named:
        journal.finish()
    print_line(_describe_data(journal.content))
    if first := [config for config in chosen if isinstance(steps[config.name], NoPreviousVersion)]:
        raise DeployError("\n".join(map(_describe_first, first)))


def _choose(configs: list[WorkerConfig], named: list[str], journal: Journal) -> list[WorkerConfig]:
    notes = journal.content.notes
    if not journal.content.tag:
        raise DeployError(
            f"{journal.path} has no notes: nothing was deployed to this account from this folder. npx wrangler deployments list "
            "--config FILE shows what ran, npx wrangler rollback VERSION --config FILE goes back to it"
        )
    if unknown := [name for name in named if name not in notes]:
        raise DeployError(f"{', '.join(unknown)} was not deployed from this folder: nothing is known to go back to")
    return [
        config
        for config in configs
        if config.name in notes and (named or notes[config.name].tag == journal.content.tag)
    ]


def _plan(config: WorkerConfig, note: Note, run: Wrangler) -> Step:
    runs = read_deployment(config, run)
    if not _list_added(note, runs):
        return Unchanged(runs)
    if not note.before:
        return NoPreviousVersion()
    return Restorable(note) if is_running(note, runs, config, run) else ForeignVersion(note, runs)


def is_running(note: Note, runs: Deployment, config: WorkerConfig, run: Wrangler) -> bool:
    """Return whether the version that was uploaded after this note runs, perhaps beside those before it, and no other."""
    added = _list_added(note, runs)
    return bool(added) and all(read_tag(config, version, run) == note.tag for version in added)


def _list_added(note: Note, runs: Deployment) -> list[str]:
    former = {share.version for share in note.before}
    return [share.version for share in runs.shares if share.version not in former]


def _refuse_foreign(steps: dict[str, Step]) -> None:
    foreign = {name: step for name, step in steps.items() if isinstance(step, ForeignVersion)}
    if not foreign:
        return
    lines = [_describe_foreign(name, step.runs) for name, step in foreign.items()]
    others = " ".join(name for name in steps if name not in foreign)
    rest = f", and ./scripts/deploy --rollback {others} rolls back only these" if others else ""
    force = "./scripts/deploy --rollback --force goes back all the same, to the secrets of then too"
    raise DeployError("\n".join([*lines, f"Nothing was rolled back. {force}{rest}."]))


def _describe_foreign(name: str, runs: Deployment) -> str:
    source = " ".join(filter(None, [runs.author and f"by {runs.author}", runs.trigger and f"({runs.trigger})"]))
    return f"{name} was changed after the deployment: {describe(runs.shares)} runs since {runs.when} {source}".strip()


def _perform(config: WorkerConfig, step: Step, run: Wrangler) -> None:
    match step:
        case Unchanged(runs):
            print_line(f"{config.name} is not changed: {describe(runs.shares)} runs")
        case Restorable(note) | ForeignVersion(note):
            print_line(f"rolling back {config.name} to {describe(note.before)}")
            _restore(config, note, run)


def _restore(config: WorkerConfig, note: Note, run: Wrangler) -> None:
    try:
        restore(config, note.before, run)
    except CommandFailed as error:
        raise DeployError(
            f"{error}\n{config.name} was not rolled back, nor were those after it, which it may need. Cloudflare takes no Worker "
            "back past a change of its Durable Object classes, nor to a version whose resources are gone."
        ) from None


def _describe_first(config: WorkerConfig) -> str:
    return (
        f"{config.name} has no former version: this was its first deployment, and it runs on. "
        f"npx wrangler delete --config {config.path.name} removes it."
    )


def _describe_data(content: Content) -> str:
    applied = f" The deployment applied {', '.join(content.migrations)}." if content.migrations else ""
    return f"Stored data and the database's migrations stay as they are: migrations only ever add.{applied}"
