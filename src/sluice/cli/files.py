"""Reads and replaces files on this machine."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from sluice.core.compiler.sources.failures import SourceMissing
from sluice.core.errors import ConfigError, Oversized


def read_file(path: str, *, max_bytes: int) -> bytes:
    """Return the file's content; the cap also stops endless files such as /dev/zero."""
    try:
        with Path(path).open("rb") as file:
            body = file.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        raise SourceMissing(f"the file cannot be read: {_explain(error)}") from error
    if len(body) > max_bytes:
        raise Oversized(f"the file is larger than {max_bytes:,} bytes")
    return body


def write_file(path: str, parts: Iterable[bytes]) -> None:
    """Write the file atomically: until all parts are written, readers see the old content."""
    target = Path(path)
    try:
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            _write(target, parts)  # a terminal or pipe cannot be replaced
        else:
            _replace(target.resolve(), parts)  # a link stays a link
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {_explain(error)}") from error


def _replace(target: Path, parts: Iterable[bytes]) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        _write(temporary, parts)
        with suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _write(target: Path, parts: Iterable[bytes]) -> None:
    with target.open("wb") as file:
        file.writelines(parts)


def _explain(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
