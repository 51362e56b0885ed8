"""Notes on deployments, one file for each account: what ran of each Worker before its last upload.

A note is on the disk before the upload begins, so that a deployment which dies at any line can be taken back. It has
the versions that run, with their shares of the traffic. Every upload has the deployment's tag, so its version is known
even if the deployment died before wrangler told its id. A deployment that failed is continued by the next one under the
same tag, and what ran before both stays noted.
"""

import json
import os
import re
import secrets
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from commands import DeployError
from versions import Share, Shares

FOLDER: Final = ".deployments"


@dataclass(frozen=True, slots=True)
class Note:
    """What ran of a Worker before an upload; `tag` is that of the deployment, and of the version that it uploaded."""

    tag: str
    before: Shares


@dataclass(frozen=True, slots=True)
class Content:
    """What the journal of one account holds. `tag` is that of the last deployment, `migrations` are those that it applied to databases."""

    tag: str = ""
    finished: bool = True
    migrations: tuple[str, ...] = ()
    notes: dict[str, Note] = field(default_factory=dict)


class Journal:
    """The notes of one account."""

    def __init__(self, root: Path, account: str) -> None:
        if not re.fullmatch(r"[\w-]+", account):
            raise DeployError(f"{account!r} is not the id of a Cloudflare account: check CLOUDFLARE_ACCOUNT_ID")
        self.path = root / FOLDER / f"{account}.json"
        self.content = self._read()

    def begin(self) -> None:
        """Begin a deployment; one that was not finished is continued, so what ran before it stays noted."""
        if self.content.finished:
            tag = f"sluice-{secrets.token_hex(8)}"
            self._write(replace(self.content, tag=tag, finished=False, migrations=()))

    def add_migrations(self, names: list[str]) -> None:
        known = self.content.migrations
        self._write(replace(self.content, migrations=(*known, *(name for name in names if name not in known))))

    def add(self, worker: str, before: Shares) -> None:
        """Note what runs of a Worker that is about to be uploaded."""
        note = Note(self.content.tag, before)
        self._write(replace(self.content, notes=self.content.notes | {worker: note}))

    def finish(self) -> None:
        self._write(replace(self.content, finished=True))

    def _write(self, content: Content) -> None:
        """Replace the file as a whole: a crash leaves the former one or this one."""
        self.path.parent.mkdir(exist_ok=True)
        draft = self.path.with_suffix(".new")
        with draft.open("w") as file:
            json.dump(asdict(content), file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)
        self.content = content

    def _read(self) -> Content:
        try:
            return _parse(json.loads(self.path.read_text()))
        except FileNotFoundError:
            return Content()
        except (KeyError, TypeError, ValueError):
            raise DeployError(
                f"{self.path} cannot be read: remove it; what ran before the last deployment is then no longer known here"
            ) from None


def _parse(value: dict[str, Any]) -> Content:
    return Content(
        tag=str(value["tag"]),
        finished=bool(value["finished"]),
        migrations=tuple(map(str, value["migrations"])),
        notes={worker: _parse_note(note) for worker, note in value["notes"].items()},
    )


def _parse_note(value: dict[str, Any]) -> Note:
    shares = (Share(str(share["version"]), float(share["percentage"])) for share in value["before"])
    return Note(str(value["tag"]), tuple(shares))
