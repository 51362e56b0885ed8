"""Deploys the Workers: creates missing resources, migrates the database, uploads in order and tries what it deployed."""

import argparse
import re
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Final

from account import choose_account
from commands import QUESTION_LIMIT_S, UPLOAD_LIMIT_S, DeployError, Program, Wrangler, print_line
from free_plan import judge, without_paid_settings
from journal import Journal
from locked_sync import sync_locked_packages
from resources import create_missing
from rollback import is_running, roll_back
from rollout import list_needs, sort_by_need
from smoke import Target, check_address, check_targets, is_local, list_local_targets
from versions import describe, read_deployment
from worker_config import WorkerConfig, find_used_bindings, read_configs
from worker_secrets import check_secrets, describe_missing, list_missing

# Makes the config that is uploaded, for as long as the upload takes.
Prepare = Callable[[WorkerConfig], AbstractContextManager[WorkerConfig]]

MAX_GZIP_KIB: Final = 3 * 1024  # the limit of the smallest plan
PROPAGATION_S: Final = 90.0  # a new address may take this long to answer
MAX_LIMIT_S: Final = 86_400
UNFINISHED: Final = "The deployment is not finished: run it again to go on, or ./scripts/deploy --rollback to go back to the former versions."
HELP: Final = """\
What a deployment does, in this order:
  1. checks that each config binds what its Worker uses, that no secret in a config or in the
     environment is too short to be one, and that you are logged in
     (npx wrangler login, or CLOUDFLARE_API_TOKEN);
  2. creates the queues, buckets, KV namespaces and databases that are missing, writes their ids into
     the configs (commit that), and migrates the database;
  3. says which secrets a Worker lacks and what does not work without them;
  4. uploads the Workers: sluice-tail first, then a Worker after all those that its config names, and notes in
     .deployments/ACCOUNT.json before each upload which version runs;
  5. runs the smoke test against the addresses that wrangler prints; with ADMIN_TOKEN in the
     environment it also tries whether the warming of each zone reaches its origin.

The packages that are uploaded are those of requirements/worker.txt, locked by hash, in every case: wrangler
calls ./scripts/setup --modules before it builds.

--rollback goes back to exactly the noted versions, in the reverse order, and only where a version of the last deployment
runs; with names, of the last deployment of each of these Workers. It fails, and changes nothing, where somebody else
deployed since (--force goes back all the same), and says so where a Worker has no former version. A deployment that
failed half-way may be run again: what is noted stays what ran before it.

The exit code is 1 if anything failed or could not be rolled back, 130 or 143 if it was interrupted, 2 if the command line is wrong.
"""


def select_configs(configs: list[WorkerConfig], names: list[str]) -> list[WorkerConfig]:
    known = [config.name for config in configs]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise DeployError(f"no Worker is named {', '.join(unknown)}; choose one of: {', '.join(known)}")
    return [config for config in configs if not names or config.name in names]


def select_for_free_plan(configs: list[WorkerConfig], names: list[str]) -> list[WorkerConfig]:
    """Return the Workers that the free plan can run; raise DeployError if one that cannot was asked for."""
    for config in configs:
        verdict = judge(config)
        print_line(f"{config.name:24} {'fits' if verdict.fits else 'skipped'}: {verdict.reason}")
    refused = [config.name for config in configs if not judge(config).fits]
    if names and refused:
        raise DeployError(f"the free plan cannot run {', '.join(refused)}: leave it out, or choose the paid plan")
    return [config for config in configs if judge(config).fits]


def check_bindings(config: WorkerConfig) -> None:
    missing = find_used_bindings(config.main.read_text()) - config.bindings
    if missing:
        raise DeployError(
            f"{config.path.name} does not bind what {config.main.name} uses: add {', '.join(sorted(missing))}"
        )


def check_upload(config: WorkerConfig, upload: Wrangler, prepare: Prepare) -> None:
    """Build the upload without an account; raise DeployError if it is too large."""
    with prepare(config) as uploaded:
        output = upload("deploy", "--dry-run", "--config", str(uploaded.path))
    size = re.search(r"gzip: ([\d.]+) KiB", output)
    if not size:
        raise DeployError(
            f"{config.name}: wrangler did not print the size of the upload: check that package.json pins the tested version"
        )
    if float(size[1]) > MAX_GZIP_KIB:
        raise DeployError(f"{config.name}: the upload has {size[1]} KiB gzipped; the limit is {MAX_GZIP_KIB}")
    print_line(f"{config.name:24} {float(size[1]):8.0f} KiB gzipped")


def migrate(configs: list[WorkerConfig], run: Wrangler, journal: Journal) -> None:
    """Apply the migrations to each remote database once."""
    homes = {entry["database_name"]: config for config in configs for entry in config.all("d1_databases")}
    for name, config in homes.items():
        print_line(f"migrating database {name}")
        target = (name, "--remote", "--config", str(config.path))
        journal.add_migrations(re.findall(r"[\w.-]+\.sql\b", run("d1", "migrations", "list", *target)))
        run("d1", "migrations", "apply", *target)


def report_secrets(configs: list[WorkerConfig], run: Wrangler) -> None:
    for config in configs:
        for line in describe_missing(config, list_missing(config, run)):
            print_line(line)


def note_version(config: WorkerConfig, run: Wrangler, journal: Journal) -> None:
    """Note what runs of a Worker; what an unfinished deployment uploaded is not what ran before it."""
    deployment = read_deployment(config, run)
    note = journal.content.notes.get(config.name)
    if not note or note.tag != journal.content.tag or not is_running(note, deployment, config, run):
        journal.add(config.name, deployment.shares)
    print_line(f"{config.name}: {describe(deployment.shares)} runs")


def upload_all(
    configs: list[WorkerConfig], run: Wrangler, upload: Wrangler, prepare: Prepare, journal: Journal
) -> list[Target]:
    """Upload the Workers in their order and return the addresses at which they can be tried."""
    needs = list_needs(configs)
    targets: list[Target] = []
    for config in configs:
        reasons = [need.reason for need in needs if need.first == config.name]
        note_version(config, run, journal)
        print_line(f"deploying {config.name}" + (f" before others: {reasons[0]}" if reasons else ""))
        with prepare(config) as uploaded:
            output = upload("deploy", "--tag", journal.content.tag, "--config", str(uploaded.path))
        print_line(output.strip().splitlines()[-1])
        addresses = re.findall(r"^\s*(https?://\S+)\s*$", output, re.MULTILINE)
        targets += [Target.at(config.name, address) for address in addresses[:1]]
    return targets


def deploy(configs: list[WorkerConfig], run: Wrangler, upload: Wrangler, prepare: Prepare, journal: Journal) -> None:
    journal.begin()
    create_missing(configs, run, print_line)
    migrate(configs, run, journal)
    report_secrets(configs, run)
    try:
        targets = upload_all(configs, run, upload, prepare, journal)
    except DeployError as error:
        raise DeployError(f"{error}\n{UNFINISHED}") from None
    except KeyboardInterrupt:
        print(UNFINISHED, file=sys.stderr)
        raise
    journal.finish()
    tried = {target.worker for target in targets}
    for config in configs:
        if config.name not in tried:
            print_line(f"{config.name} has no workers.dev address: try it with ./scripts/deploy --check URL")
    if failed := check_targets(targets, patience_s=PROPAGATION_S):
        raise DeployError(f"checks that failed: {failed}; ./scripts/deploy --rollback returns to the former versions")


def check(addresses: list[str], configs: list[WorkerConfig]) -> None:
    """Run the smoke test; a local runtime has all Workers at one address."""
    names = [config.name for config in configs]
    targets: list[Target] = []
    for address in addresses:
        check_address(address)
        targets += list_local_targets(address, names) if is_local(address) else [Target.at("", address)]
    if failed := check_targets(targets):
        raise DeployError(f"checks that failed: {failed}")


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./scripts/deploy",
        description=__doc__,
        epilog=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("workers", nargs="*", metavar="WORKER", help="name of a Worker; default: all Workers")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--dry-run", action="store_true", help="check and build everything without an account")
    what.add_argument(
        "--check",
        nargs="+",
        metavar="URL",
        help="only try what runs there: an address of a Worker, or of ./scripts/run (http://127.0.0.1:8787)",
    )
    what.add_argument("--rollback", action="store_true", help="return to the versions before the last deployment")
    parser.add_argument(
        "--force", action="store_true", help="with --rollback: also where somebody else deployed since then"
    )
    parser.add_argument(
        "--time-limit",
        type=parse_seconds,
        metavar="SECONDS",
        help=f"for each call of wrangler; default: {QUESTION_LIMIT_S:g}, and {UPLOAD_LIMIT_S:g} for an upload or a migration",
    )
    parser.add_argument("--pywrangler", action="store_true", help="vendor and upload with Cloudflare's pywrangler")
    parser.add_argument(
        "--plan",
        choices=["paid", "free"],
        default="paid",
        help="free: say which Workers the free plan can run, deploy those and skip the others",
    )
    return parser


def parse_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 1 <= seconds <= MAX_LIMIT_S:
        raise argparse.ArgumentTypeError(f"give 1 to {MAX_LIMIT_S} seconds, not {text}")
    return seconds


def perform(options: argparse.Namespace, root: Path, run: Wrangler, pywrangler: Wrangler) -> None:
    configs = select_configs(sort_by_need(read_configs(root)), options.workers)
    if options.check:
        return check(options.check, configs)
    if options.rollback:
        journal = Journal(root, choose_account(configs, run))
        return roll_back(configs, options.workers, journal, run, force=options.force)
    if options.plan == "free":
        configs = select_for_free_plan(configs, options.workers)
    for config in configs:
        check_bindings(config)
    check_secrets(configs)
    upload = pywrangler if options.pywrangler else run
    prepare: Prepare = without_paid_settings if options.plan == "free" else nullcontext
    account = "" if options.dry_run else choose_account(configs, run)
    if options.pywrangler:
        sync_locked_packages(root, pywrangler)
    if account:
        return deploy(configs, run, upload, prepare, Journal(root, account))
    for config in configs:
        check_upload(config, upload, prepare)
    return None


def main(arguments: list[str], root: Path, run: Wrangler | None = None, pywrangler: Wrangler | None = None) -> int:
    parser = build_parser()
    options = parser.parse_args(arguments)
    if options.force and not options.rollback:
        parser.error("--force goes with --rollback alone")
    run = run or Program("wrangler", options.time_limit)
    pywrangler = pywrangler or Program("pywrangler", options.time_limit)
    try:
        perform(options, root, run, pywrangler)
    except DeployError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt as interrupt:
        print("interrupted", file=sys.stderr)
        return 128 + (interrupt.args[0] if interrupt.args else signal.SIGINT)
    return 0


def interrupt_at(*signals: signal.Signals) -> None:
    """Let these signals end what runs, as Ctrl-C does: wrangler must not go on alone."""

    def interrupt(number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt(number)

    for each in signals:
        signal.signal(each, interrupt)


if __name__ == "__main__":
    interrupt_at(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    sys.exit(main(sys.argv[1:], Path(__file__).parents[2]))
