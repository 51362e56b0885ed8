"""One real WordPress for all tests, fetched from Debian's packages; skipped where these cannot be had."""

from collections.abc import Iterator

import pytest

from debian_packages import WORDPRESS, NotAvailable, fetch_packages
from wordpress.programs import Programs
from wordpress.recording_worker import RecordingWorker, recording_worker
from wordpress.wordpress_site import WordPress


@pytest.fixture(name="wordpress", scope="session")
def _wordpress(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WordPress]:
    try:
        programs = Programs(fetch_packages(WORDPRESS))
    except NotAvailable as error:
        pytest.skip(f"no WordPress from Debian's packages: {error}")
    wordpress = WordPress(programs, tmp_path_factory.mktemp("wp"))
    try:
        wordpress.start()
        yield wordpress
    finally:
        wordpress.stop()


@pytest.fixture(name="recorder", scope="session")
def _recorder() -> Iterator[RecordingWorker]:
    with recording_worker() as worker:
        yield worker
