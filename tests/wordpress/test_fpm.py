"""The plugin under PHP-FPM, where a response can be sent before the work ends."""

import threading
from collections.abc import Iterator

import pytest

from runtime import until
from wordpress.blog import Blog
from wordpress.editor import Editor
from wordpress.fpm_server import FpmServer, fpm_server
from wordpress.recording_worker import RecordingWorker, Reply
from wordpress.wordpress_site import WordPress


@pytest.fixture(name="blog", scope="module")
def _blog(wordpress: WordPress, recorder: RecordingWorker) -> Iterator[Blog]:
    recorder.reset()
    yield Blog(wordpress, recorder)
    wordpress.deactivate()
    assert wordpress.find_complaints() == []


@pytest.fixture(name="fpm", scope="module")
def _fpm(blog: Blog, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FpmServer]:
    with fpm_server(blog.wordpress, tmp_path_factory.mktemp("fpm")) as server:
        yield server


def test_a_save_returns_before_its_own_process_sends(blog: Blog, fpm: FpmServer):
    """The response is complete while the Worker holds its reply; the process that saved is the sender, woken by nobody."""
    editor = Editor(blog.wordpress, fpm.url)
    gate = threading.Event()
    blog.recorder.reset()
    blog.recorder.answer = lambda _request: None if gate.is_set() else Reply(503, gate=gate)
    post = editor.save("posts", title="Under FPM", content="Words.", status="publish")
    until(lambda: blog.recorder.received)
    assert not gate.is_set()
    gate.set()
    blog.forget_failures()
    blog.wait_for("preload", "urls", post["link"])
    blog.wait_until_sent()
    assert not [path for path in fpm.paths if "sluice_preload_send" in path]
