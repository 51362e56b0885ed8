"""A WordPress with the plugin and a Worker that records, as the tests of the plugin use it."""

import hmac
import time
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import httpx

from runtime import PATIENCE_S, until
from wordpress.editor import Editor
from wordpress.recording_worker import KEY, ZONE, RecordingWorker
from wordpress.wordpress_site import PHP, WordPress

PROBE: Final = PHP / "probe.php"
OUTBOX: Final = "SELECT kind, state, reason, attempts FROM wp_sluice_preload_outbox"


class Blog:
    def __init__(self, wordpress: WordPress, recorder: RecordingWorker) -> None:
        self.wordpress = wordpress
        self.recorder = recorder
        self.configure()
        wordpress.forget_posts()
        wordpress.activate()
        self.wait_until_sent()
        self.editor = Editor(wordpress)

    def configure(self, *, must_use: Iterable[Path] = (PROBE,), **constants: str | bool) -> None:
        worker = {"SLUICE_WORKER_URL": self.recorder.url, "SLUICE_ZONE_ID": ZONE, "SLUICE_SIGNING_KEY": KEY}
        self.wordpress.configure(constants={**worker, **constants}, must_use=must_use)

    def wait_until_sent(self) -> None:
        until(lambda: not self.list_waiting())

    def list_waiting(self) -> list[dict[str, Any]]:
        return [row for row in self.wordpress.query(OUTBOX) if row["state"] == "waiting"]

    def publish(self, title: str, **fields: Any) -> dict[str, Any]:
        return self.editor.save("posts", title=title, content=f"About {title}.", status="publish", **fields)

    def publish_quietly(self, title: str, **fields: Any) -> dict[str, Any]:
        """Publish, and forget what was sent about it."""
        post = self.publish(title, **fields)
        self.wait_for("preload", "urls", post["link"])
        self.wait_until_sent()
        self.recorder.reset()
        return post

    def wait_for(self, kind: str, part: str, name: str) -> None:
        until(lambda: name in self.recorder.collect(kind, part))

    def find_purges(self, tag: str) -> list[dict[str, Any]]:
        purges = [each.body for each in self.recorder.accepted if each.path == "/api/v1/purge"]
        return [body for body in purges if tag in body.get("tags", [])]

    def visit(self, path: str, **headers: str) -> httpx.Response:
        return httpx.get(self.wordpress.origin + path, headers=headers, timeout=PATIENCE_S)

    def forget_failures(self) -> None:
        self.wordpress.run("delete_option( 'sluice_preload_state' );")


def sign_proxy(key: str, host: str, proto: str, client_ip: str, *, age_s: int = 0) -> dict[str, str]:
    """Return the headers that the Worker sends to an origin."""
    timestamp = str(int(time.time()) - age_s)
    text = f"proxy\n{host}\n{proto}\n{client_ip}\n{timestamp}"
    value = hmac.new(key.encode(), text.encode(), sha256).hexdigest()
    return {
        "X-Forwarded-Host": host,
        "X-Forwarded-Proto": proto,
        "X-Forwarded-For": client_ip,
        "X-Sluice-Proxy": f"t={timestamp},v={value}",
    }
