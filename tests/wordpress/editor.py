"""An administrator in a browser."""

import re
from typing import Any

import httpx

from runtime import PATIENCE_S
from wordpress.wordpress_site import WordPress


class Editor:
    """The administrator in a browser, at the site's visitors' address or straight at the origin."""

    def __init__(self, wordpress: WordPress, address: str = "") -> None:
        host = wordpress.url.partition("://")[2]
        # PHP's server closes every connection, so none is kept.
        limits = httpx.Limits(max_keepalive_connections=0)
        self.client = httpx.Client(
            base_url=address or wordpress.origin, headers={"Host": host}, timeout=PATIENCE_S, limits=limits
        )
        form = {"log": "admin", "pwd": "admin", "testcookie": "1"}
        reply = self.client.post(
            "/wp-login.php", data=form, headers={"Cookie": "wordpress_test_cookie=WP+Cookie+check"}
        )
        assert reply.status_code == 302, reply.text[:500]
        nonce = self.client.get("/wp-admin/admin-ajax.php?action=rest-nonce")
        assert nonce.status_code == 200, nonce.text[:500]
        self.client.headers["X-WP-Nonce"] = nonce.text

    def save(self, route: str, **fields: Any) -> dict[str, Any]:
        """Save through REST, as the block editor does."""
        reply = self.client.post(f"/wp-json/wp/v2/{route}", json=fields)
        assert reply.status_code in {200, 201}, reply.text[:500]
        saved: dict[str, Any] = reply.json()
        return saved

    def delete(self, route: str) -> None:
        assert self.client.delete(f"/wp-json/wp/v2/{route}").status_code == 200

    def open(self, path: str) -> httpx.Response:
        return self.client.get(path)

    def submit(self, action: str, page: str = "/wp-admin/options-general.php?page=sluice-preload") -> httpx.Response:
        """Press the button of an action on a page; return the page that follows."""
        form = re.search(rf'value="{action}".*?name="_wpnonce" value="([^"]+)"', self.open(page).text, re.DOTALL)
        assert form, f"no button for {action}"
        reply = self.client.post("/wp-admin/admin-post.php", data={"action": action, "_wpnonce": form[1]})
        assert reply.status_code == 302, reply.text[:500]
        target = httpx.URL(reply.headers["Location"])
        return self.open(target.raw_path.decode())
