"""Deploys the Workers: checks bindings, creates what is missing, migrates the database, uploads."""

import argparse
import re
import sys
from pathlib import Path

from resources import CommandFailed, Wrangler, create_missing, wrangler
from worker_config import WorkerConfig, bindings_in_code, worker_configs

MAX_GZIP_KIB = 3 * 1024  # the size that every plan takes


class Mistake(Exception):
    """Told to the operator in a sentence."""


def say(text: str) -> None:
    print(text, flush=True)


def chosen(configs: list[WorkerConfig], names: list[str]) -> list[WorkerConfig]:
    known = [config.name for config in configs]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Mistake(f"no Worker is named {', '.join(unknown)}; there are: {', '.join(known)}")
    return [config for config in configs if not names or config.name in names]


def check_bindings(config: WorkerConfig) -> None:
    missing = bindings_in_code(config.main.read_text()) - config.bindings
    if missing:
        raise Mistake(f"{config.path.name} does not bind what {config.main.name} uses: {', '.join(sorted(missing))}")


def rehearse(config: WorkerConfig, run: Wrangler) -> None:
    """Build the upload without an account, and refuse one that is too large."""
    printed = run("deploy", "--dry-run", "--config", str(config.path))
    size = re.search(r"gzip: ([\d.]+) KiB", printed)
    if not size:
        raise Mistake(f"{config.name}: wrangler did not say how large the upload is")
    if float(size[1]) > MAX_GZIP_KIB:
        raise Mistake(f"{config.name}: the upload has {size[1]} KiB gzipped; {MAX_GZIP_KIB} are allowed")
    say(f"{config.name:24} {float(size[1]):8.0f} KiB gzipped")


def migrate(configs: list[WorkerConfig], run: Wrangler) -> None:
    """Apply the migrations to each remote database once."""
    homes = {entry["database_name"]: config for config in configs for entry in config.all("d1_databases")}
    for name, config in homes.items():
        say(f"migrating database {name}")
        run("d1", "migrations", "apply", name, "--remote", "--config", str(config.path))


def deploy(configs: list[WorkerConfig], run: Wrangler) -> None:
    if "not authenticated" in run("whoami"):  # it ends well all the same
        raise Mistake("not logged in to Cloudflare: run node_modules/.bin/wrangler login, or set CLOUDFLARE_API_TOKEN")
    create_missing(configs, run, say)
    migrate(configs, run)
    for config in configs:
        say(f"deploying {config.name}")
        say(run("deploy", "--config", str(config.path)).strip().splitlines()[-1])


def main(arguments: list[str], root: Path, run: Wrangler) -> int:
    parser = argparse.ArgumentParser(prog="./scripts/deploy", description=__doc__)
    parser.add_argument("workers", nargs="*", metavar="WORKER", help="names of Workers (all)")
    parser.add_argument("--dry-run", action="store_true", help="check and build everything; needs no account")
    given = parser.parse_args(arguments)
    try:
        configs = chosen(worker_configs(root), given.workers)
        for config in configs:
            check_bindings(config)
        if given.dry_run:
            for config in configs:
                rehearse(config, run)
        else:
            deploy(configs, run)
    except (Mistake, CommandFailed) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path(__file__).parents[2], wrangler))
