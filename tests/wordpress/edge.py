"""A WordPress behind the real Worker in workerd, as visitors, an editor and the operator see it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx

from ports import find_free_port
from runtime import PATIENCE_S, ROOT, Runtime, until
from wordpress.blog import OUTBOX
from wordpress.editor import Editor
from wordpress.wordpress_site import WordPress

ZONE: Final = "blog"
KEY: Final = "the-key-of-the-real-worker-0123"
TOKEN: Final = "the-operators-token"
# The same Worker with a clock that a test can move.
CLOCKWORK: Final = ("--config", str(ROOT / "tests/workerd/preload/wrangler.toml"))


@contextmanager
def run_behind_worker(
    wordpress: WordPress, state: Path, worker: tuple[str, ...] = ("--only", "edge-preload")
) -> "Iterator[Edge]":
    """Start the Worker, configures a zone and activates the plugin."""
    port = find_free_port()
    variables = ["ALLOW_PRIVATE_HOSTS=*", f"ADMIN_TOKEN={TOKEN}", f"SIGNING_KEY={KEY}-of-all-zones"]
    given = [part for each in variables for part in ("--var", each)]
    options = ("--port", str(port), *worker, "--route", "blog.localhost=edge-preload")
    runtime = Runtime(state, *options, *given)
    runtime.start()
    try:
        yield Edge(wordpress, runtime, port)
    finally:
        runtime.kill()
        wordpress.configure()


class Edge:
    def __init__(self, wordpress: WordPress, runtime: Runtime, port: int) -> None:
        self.wordpress = wordpress
        self.runtime = runtime
        self.url = f"http://blog.localhost:{port}"
        self.api = f"http://edge-preload.localhost:{port}"
        # The tests warm more pages than a site does in a minute; the limit for a second stays.
        config = {"site_url": self.url, "origin_url": wordpress.origin, "signing_key": KEY, "preload_rpm_limit": 600}
        reply = self.ask_operator("PUT", "config", config)
        assert reply.status_code == 200, reply.text
        self.configure()
        wordpress.forget_posts()
        wordpress.activate()
        self.wait_until_sent()
        self.editor = Editor(wordpress, runtime.url)

    def configure(self, *, key: str = KEY) -> None:
        """A stock wp-config.php, which knows nothing of a proxy."""
        constants = {"SLUICE_WORKER_URL": self.api, "SLUICE_ZONE_ID": ZONE, "SLUICE_SIGNING_KEY": key}
        self.wordpress.configure(url=self.url, constants=constants)

    def ask_operator(self, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"Host": self.api.partition("://")[2], "Authorization": f"Bearer {TOKEN}"}
        url = f"{self.runtime.url}/api/v1/zones/{ZONE}/{path}"
        return httpx.request(method, url, json=body, headers=headers, timeout=PATIENCE_S)

    def visit(self, url: str, **headers: str) -> httpx.Response:
        """Return a visitor's request, redirects not followed."""
        host = {"Host": self.url.partition("://")[2]}
        return httpx.get(self.runtime.url + url.removeprefix(self.url), headers=host | headers, timeout=PATIENCE_S)

    def pass_time(self, seconds: int = 51) -> None:
        """Move the clock of CLOCKWORK, then run the minute's cron. WordPress believes a clock for five minutes."""
        host = {"Host": self.api.partition("://")[2]}
        moved = httpx.put(f"{self.runtime.url}/test?advance_s={seconds}", headers=host, timeout=PATIENCE_S)
        assert moved.status_code == 200, moved.text
        assert self.runtime.cron("edge-preload", "* * * * *").status_code == 200

    def list_alerts(self) -> list[str]:
        alerts: list[str] = self.ask_operator("GET", "status").json()["alerts"]
        return alerts

    def publish(self, title: str, **fields: Any) -> dict[str, Any]:
        return self.editor.save("posts", title=title, content=f"Old words of {title}.", status="publish", **fields)

    def publish_warm(self, title: str, **fields: Any) -> dict[str, Any]:
        post = self.publish(title, **fields)
        self.wait_until_warm(post["link"])
        self.wait_until_sent()
        return post

    def wait_until_warm(self, url: str) -> None:
        """Wait for the Worker's own copy; no visitor has asked for it."""
        until(lambda: url in {page["url"] for page in self.ask_operator("GET", "pages?limit=1000").json()["pages"]})

    def wait_until_sent(self) -> None:
        until(lambda: not self.wordpress.query(OUTBOX))
