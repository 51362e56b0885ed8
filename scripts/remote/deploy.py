"""Deploys the Workers: checks their bindings, creates missing resources, migrates the databases and uploads."""

import argparse
import re
import sys
from pathlib import Path

from resources import CommandFailed, Wrangler, create_missing, wrangler
from worker_config import WorkerConfig, find_used_bindings, read_configs

MAX_GZIP_KIB = 3 * 1024  # the limit of the smallest plan


class DeployError(Exception):
    """A problem that the operator can fix; its text is printed without a traceback."""


def print_line(text: str) -> None:
    print(text, flush=True)


def select_configs(configs: list[WorkerConfig], names: list[str]) -> list[WorkerConfig]:
    known = [config.name for config in configs]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise DeployError(f"no Worker is named {', '.join(unknown)}; choose one of: {', '.join(known)}")
    return [config for config in configs if not names or config.name in names]


def check_bindings(config: WorkerConfig) -> None:
    missing = find_used_bindings(config.main.read_text()) - config.bindings
    if missing:
        raise DeployError(
            f"{config.path.name} does not bind what {config.main.name} uses: add {', '.join(sorted(missing))}"
        )


def check_upload(config: WorkerConfig, run: Wrangler) -> None:
    """Build the upload without an account; raises DeployError if it is too large."""
    output = run("deploy", "--dry-run", "--config", str(config.path))
    size = re.search(r"gzip: ([\d.]+) KiB", output)
    if not size:
        raise DeployError(
            f"{config.name}: wrangler did not print the size of the upload: check that package.json pins the tested version"
        )
    if float(size[1]) > MAX_GZIP_KIB:
        raise DeployError(f"{config.name}: the upload has {size[1]} KiB gzipped; the limit is {MAX_GZIP_KIB}")
    print_line(f"{config.name:24} {float(size[1]):8.0f} KiB gzipped")


def migrate(configs: list[WorkerConfig], run: Wrangler) -> None:
    """Apply the migrations to each remote database once."""
    homes = {entry["database_name"]: config for config in configs for entry in config.all("d1_databases")}
    for name, config in homes.items():
        print_line(f"migrating database {name}")
        run("d1", "migrations", "apply", name, "--remote", "--config", str(config.path))


def deploy(configs: list[WorkerConfig], run: Wrangler) -> None:
    if "not authenticated" in run("whoami"):  # its exit status is 0 in this case too
        raise DeployError("not logged in to Cloudflare: run npx wrangler login, or set CLOUDFLARE_API_TOKEN")
    create_missing(configs, run, print_line)
    migrate(configs, run)
    for config in configs:
        print_line(f"deploying {config.name}")
        print_line(run("deploy", "--config", str(config.path)).strip().splitlines()[-1])


def main(arguments: list[str], root: Path, run: Wrangler) -> int:
    parser = argparse.ArgumentParser(prog="./scripts/deploy", description=__doc__)
    parser.add_argument("workers", nargs="*", metavar="WORKER", help="name of a Worker; default: all Workers")
    parser.add_argument("--dry-run", action="store_true", help="check and build everything without an account")
    options = parser.parse_args(arguments)
    try:
        configs = select_configs(read_configs(root), options.workers)
        for config in configs:
            check_bindings(config)
        if options.dry_run:
            for config in configs:
                check_upload(config, run)
        else:
            deploy(configs, run)
    except (DeployError, CommandFailed) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path(__file__).parents[2], wrangler))
