"""A Cloudflare account as wrangler's commands show it."""

import json
import tomllib
from itertools import count
from pathlib import Path

from commands import CommandFailed

ACCOUNT_ID = "00112233445566778899aabbccddeeff"
NAMESPACE_ID = "0123456789abcdef0123456789abcdef"
DATABASE_ID = "01234567-89ab-cdef-0123-456789abcdef"
NO_SUCH_WORKER = 10007


class Account:
    """It has one user, and the versions of each Worker with their shares of the traffic."""

    def __init__(self, *, logged_in: bool = True, accounts: tuple[str, ...] = (ACCOUNT_ID,)) -> None:
        self.logged_in = logged_in
        self.accounts = accounts
        self.kept: dict[str, list[str]] = {"queues": [], "r2": [], "kv": [], "d1": []}
        self.running: dict[str, dict[str, float]] = {}
        self.tags: dict[str, str] = {}  # by version
        self.pending: list[str] = []  # migrations
        self.refused: set[str] = set()  # Workers whose uploads and rollbacks fail
        self.ran: list[tuple[str, ...]] = []
        self._numbers = count(1)

    def upload(self, name: str, tag: str = "") -> str:
        version = f"{name}-{next(self._numbers)}"
        self.tags[version] = tag
        self.running[name] = {version: 100}
        return version

    def list_changed(self) -> list[str]:
        """Return the names of the Workers that were rolled back, in their order."""
        return [
            _name(command) for command in self.ran if command[0] == "rollback" or command[:2] == ("versions", "deploy")
        ]

    def __call__(self, *arguments: str) -> str:
        self.ran.append(arguments)
        match arguments:
            case ("whoami", "--json") if not self.logged_in:
                raise CommandFailed("failed", output='{"loggedIn": false}\n')
            case ("whoami", "--json"):
                return json.dumps({"loggedIn": True, "accounts": [{"id": each, "name": "a"} for each in self.accounts]})
            case ("kv", "namespace", "list"):
                return json.dumps([{"id": NAMESPACE_ID, "title": title} for title in self.kept["kv"]])
            case ("d1", "info", name, "--json") if name in self.kept["d1"]:
                return json.dumps({"uuid": DATABASE_ID})
            case ("d1", "migrations", "list", *_):
                return "".join(f"│ {name} │\n" for name in self.pending)
            case ("d1", "migrations", "apply", *_):
                self.pending.clear()
            case (kind, *_, "create", name):
                assert name not in self.kept[kind], "created twice"
                self.kept[kind].append(name)
            case (kind, *_, "info", name) if name in self.kept[kind]:
                pass
            case (_, *_, "info", _) | (_, "info", _, "--json"):
                raise CommandFailed("not found")
            case _:
                return self._answer_about_worker(arguments, _name(arguments))
        return "done"

    def _answer_about_worker(self, arguments: tuple[str, ...], name: str) -> str:
        match arguments:
            case ("deployments", "list", *_) if name not in self.running:
                raise CommandFailed("no such Worker", code=NO_SUCH_WORKER)
            case ("deployments", "list", *_):
                shares = [{"version_id": each, "percentage": share} for each, share in self.running[name].items()]
                return json.dumps([{"versions": [{"version_id": "older", "percentage": 100}]}, {"versions": shares}])
            case ("versions", "view", version, *_):
                return json.dumps({"id": version, "annotations": {"workers/tag": self.tags.get(version, "")}})
            case (command, *_) if name in self.refused:
                raise CommandFailed(f"{command} refused")
            case ("deploy", "--tag", tag, *_):
                self.upload(name, tag)
            case ("rollback", version, *_):
                self.running[name] = {version: 100}
            case ("versions", "deploy", *specs):
                pairs = (spec.split("@") for spec in specs if "@" in spec)
                self.running[name] = {version: float(share) for version, share in pairs}
        return "done"


def _name(arguments: tuple[str, ...]) -> str:
    path = Path(arguments[-1])
    return str(tomllib.loads(path.read_text())["name"]) if path.suffix == ".toml" else ""
