"""The plugin goes and comes back in a WordPress that only knows from the Worker by which host its visitors ask."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from runtime import until
from wordpress.edge import CLOCKWORK, Edge, run_behind_worker
from wordpress.test_behind_worker import is_hit
from wordpress.wordpress_site import PLUGIN, WordPress


@pytest.fixture(autouse=True)
def _active(edge: Edge) -> None:
    """Every test begins with the plugin, whatever another one has left."""
    edge.wordpress.activate()


@pytest.fixture(name="edge", scope="module")
def _edge(wordpress: WordPress, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Edge]:
    with run_behind_worker(wordpress, tmp_path_factory.mktemp("leaving"), CLOCKWORK) as edge:
        yield edge
        wordpress.deactivate()


def edit_past_the_plugin(edge: Edge, post_id: int, text: str) -> None:
    """An edit of which the Worker hears nothing."""
    edge.wordpress.run(
        f"$GLOBALS['wpdb']->update( $GLOBALS['wpdb']->posts, array( 'post_content' => '{text}' ), array( 'ID' => {post_id} ) );"
    )


def find_left_file(edge: Edge) -> Path:
    return edge.wordpress.site / "wp-content/mu-plugins/sluice-preload-address.php"


def find_plugin_folder(edge: Edge) -> Path:
    return edge.wordpress.site / "wp-content/plugins" / PLUGIN.stem


def wait_for_own_reply(edge: Edge, url: str, text: str) -> httpx.Response:
    """Return the page as WordPress itself shows it, once the Worker has heard in its isolate that it only passes on."""

    def look() -> httpx.Response | None:
        reply = edge.visit(url)
        return reply if text in reply.text and reply.headers["X-Cache"] == "BYPASS" else None

    found: httpx.Response = until(look)
    return found


@contextmanager
def without_must_use_folder(edge: Edge) -> Iterator[None]:
    """Yield a host where nothing may be written there: a file is in its place."""
    folder = edge.wordpress.site / "wp-content/mu-plugins"
    shutil.rmtree(folder, ignore_errors=True)
    folder.write_text("")
    try:
        yield
    finally:
        folder.unlink()


def test_deactivated_and_active_again(edge: Edge):
    """After deactivation a visitor sees each page as WordPress has it now, never a redirect; active again, pages are warm again."""
    post = edge.publish_warm("Kept in sight")
    assert is_hit(edge.visit(post["link"]))
    edge.wordpress.deactivate()
    edit_past_the_plugin(edge, post["id"], "Edited without the plugin.")
    page = wait_for_own_reply(edge, post["link"], "Edited without the plugin.")
    assert page.status_code == 200
    assert f'="{edge.wordpress.origin}' not in page.text
    assert edge.visit("/").status_code == edge.visit("/?s=anything").status_code == 200
    until(lambda: "agent_away" in edge.list_alerts())
    edge.wordpress.activate()
    until(lambda: "agent_away" not in edge.list_alerts())
    assert not find_left_file(edge).exists()
    until(lambda: is_hit(reply := edge.visit(post["link"])) and "Edited without" in reply.text)


def test_nothing_may_be_left_behind(edge: Edge):
    """Where no file may be left, a visitor sees a short page instead of endless redirects, and the operator hears why."""
    post = edge.publish_warm("In a circle")
    with without_must_use_folder(edge):
        edge.wordpress.deactivate()
        page = until(lambda: (reply := edge.visit(post["link"], Accept="text/html")).status_code == 508 and reply)
        assert "leads back to itself" in page.text
        until(lambda: {"agent_away", "redirect_circle"} <= set(edge.list_alerts()))
        assert edge.runtime.cron("edge-preload", "* * * * *").status_code == 200  # it writes down what has happened
        messages = {alert["message"] for alert in edge.ask_operator("GET", "alerts").json()["alerts"]}
        assert any(f"{post['link']} redirects to itself" in each and "Activate its plugin" in each for each in messages)
        edge.wordpress.activate()
    until(lambda: is_hit(edge.visit(post["link"])))


def test_a_fatal_error_of_the_plugin(edge: Edge):
    """A visitor sees WordPress' own reply from the moment the plugin fails; copies come back once it answers for itself."""
    post = edge.publish_warm("On solid ground")
    folder = edge.wordpress.site / "wp-content/mu-plugins"
    folder.mkdir(exist_ok=True)
    broken = folder / "broken.php"
    broken.write_text("<?php add_filter( 'sluice_preload_cache_control', static function () { no_such_function(); } );")
    try:
        assert edge.visit("/?p=1&nothing=cached").status_code == 500
        until(lambda: "agent_away" in edge.list_alerts())
        assert "fatal error" in edge.ask_operator("GET", "status").json()["agent"]["reason"]
    finally:
        broken.unlink()
    edit_past_the_plugin(edge, post["id"], "Edited while it failed.")
    assert wait_for_own_reply(edge, post["link"], "Edited while it failed.").status_code == 200
    edge.pass_time()
    until(lambda: "agent_away" not in edge.list_alerts())
    find_left_file(edge).unlink(missing_ok=True)
    until(lambda: is_hit(reply := edge.visit(post["link"])) and "Edited while" in reply.text)


def test_an_update(edge: Edge):
    """While the plugin is updated a visitor sees the copies; the new version introduces itself."""
    post = edge.publish_warm("Through an update")
    maintenance = edge.wordpress.site / ".maintenance"
    maintenance.write_text("<?php $upgrading = time();")
    file = find_plugin_folder(edge) / PLUGIN.name
    text = file.read_text()
    try:
        shutil.rmtree(file.parent)
        assert edge.visit("/?nothing=cached").status_code == 503
        assert edge.runtime.cron("edge-preload", "* * * * *").status_code == 200
        assert is_hit(edge.visit(post["link"]))
        edge.wordpress.copy_plugin()
        file.write_text(re.sub(r"1\.1\.0", "1.1.1", text))
    finally:
        maintenance.unlink()
    edge.visit("/?nothing=cached")
    edge.wait_until_sent()
    assert "agent_away" not in edge.list_alerts()
    edge.wordpress.copy_plugin()


def test_deleted_without_a_word(edge: Edge):
    """A plugin whose files are gone is missed within minutes: a visitor sees no old copy; put back, pages are warm again."""
    post = edge.publish_warm("Gone in silence")
    kept = find_plugin_folder(edge).rename(edge.wordpress.site / "kept")
    try:
        edge.visit(
            f"{post['link']}?nothing=cached"
        )  # a page without a copy redirects to itself: the Worker becomes doubtful
        edge.pass_time(111)
        edge.pass_time()
        until(lambda: "agent_away" in edge.list_alerts())
        assert not is_hit(until(lambda: (reply := edge.visit(post["link"])).status_code == 508 and reply))
    finally:
        kept.rename(find_plugin_folder(edge))
    edge.wordpress.run(
        "update_option( 'active_plugins', array_unique( array_merge( (array) get_option( 'active_plugins' ),"
        "array( 'sluice-preload/sluice-preload.php' ) ) ) );"
    )
    edge.pass_time()
    until(lambda: "agent_away" not in edge.list_alerts())
    until(lambda: is_hit(edge.visit(post["link"])))
