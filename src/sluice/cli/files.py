"""Reads and replaces files on this machine; without pathlib, which takes "" for a folder and raises no OSError for a loop of links."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress

from sluice.core.compiler.sources.source_errors import SourceMissing
from sluice.core.errors import ConfigError, Oversized


def read_file(path: str, *, max_bytes: int) -> bytes:
    """Return the file's content; the cap also stops endless files such as /dev/zero."""
    try:
        with open(path, "rb") as file:
            body = file.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        raise SourceMissing(f"the file cannot be read: {_explain(error)}") from error
    if len(body) > max_bytes:
        raise Oversized(f"the file is larger than {max_bytes:,} bytes")
    return body


def write_file(path: str, parts: Iterable[bytes]) -> None:
    """Write the file atomically: until all parts are written, readers see the old content."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            _write(path, parts)  # a terminal or pipe cannot be replaced
        else:
            _replace(os.path.realpath(path), parts)  # a link stays a link
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {_explain(error)}") from error


def _replace(path: str, parts: Iterable[bytes]) -> None:
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.part")
    try:
        _write(temporary, parts)
        with suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _write(path: str, parts: Iterable[bytes]) -> None:
    with open(path, "wb") as file:
        file.writelines(parts)


def _explain(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
