"""Reading and writing files."""

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from sluice.cli.files import read_file, write_file
from sluice.core.compiler.sources.source_errors import SourceMissing
from sluice.core.errors import ConfigError, Oversized


def test_reading(tmp_path: Path):
    """A file is read up to the cap; a larger file, and anything that is not a file, is refused."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"12345")
    assert read_file(str(path), max_bytes=5) == b"12345"
    with pytest.raises(Oversized):
        read_file(str(path), max_bytes=4)
    for wrong in (tmp_path, tmp_path / "none", "a\0b"):
        with pytest.raises(SourceMissing):
            read_file(str(wrong), max_bytes=5)


def test_writing(tmp_path: Path):
    """A written file holds all parts, keeps the permissions of the old one, and leaves nothing beside it."""
    path = tmp_path / "out.txt"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_file(str(path), [b"a\n", b"b"])
    assert path.read_bytes() == b"a\nb"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path):
    """Writing through a link changes what it points at."""
    path, link = tmp_path / "real.txt", tmp_path / "link.txt"
    path.write_bytes(b"old")
    link.symlink_to(path)
    write_file(str(link), [b"new"])
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


def test_a_failure_leaves_the_old_file(tmp_path: Path):
    """If writing is interrupted, the old content is still there and nothing else."""
    path = tmp_path / "out.txt"
    path.write_bytes(b"old")

    def parts() -> Iterator[bytes]:
        yield b"new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_file(str(path), parts())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_where_nothing_can_be_written(tmp_path: Path):
    """A folder that does not exist is an error that names the file."""
    with pytest.raises(ConfigError, match=r"none/out\.txt cannot be written"):
        write_file(str(tmp_path / "none" / "out.txt"), [b"x"])
