"""The settings page, the admin bar, WP-CLI, and how the plugin comes and goes."""

import re
from collections.abc import Iterator

import pytest

from runtime import until
from wordpress.blog import PROBE, Blog
from wordpress.recording_worker import KEY, ZONE, RecordingWorker
from wordpress.wordpress_site import PLUGIN_FILES, WordPress

PAGE = "/wp-admin/options-general.php?page=sluice-preload"
LEFT_OVERS = (
    "SELECT option_name AS name FROM wp_options WHERE option_name LIKE '%sluice%' AND option_name <> 'active_plugins'"
    " UNION SELECT meta_key FROM wp_usermeta WHERE meta_key LIKE '%sluice%'"
    " UNION SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'wp\\_sluice%'"
    " UNION SELECT 'cron' FROM wp_options WHERE option_name = 'cron' AND option_value LIKE '%sluice%'"
)


@pytest.fixture(name="blog", scope="module")
def _blog(wordpress: WordPress, recorder: RecordingWorker) -> Iterator[Blog]:
    recorder.reset()
    yield Blog(wordpress, recorder)
    wordpress.deactivate()
    assert wordpress.find_complaints() == []


@pytest.fixture(autouse=True)
def _quiet(blog: Blog) -> None:
    blog.wait_until_sent()
    blog.recorder.reset()


def test_the_page_shows_the_state_and_never_the_key(blog: Blog):
    """Queue depth and hit ratio come from the Worker by a signed request; the key is nowhere on the page."""
    page = until(lambda: "92.5" in (text := blog.editor.open(PAGE).text) and text)
    assert KEY not in page
    assert "Set by SLUICE_SIGNING_KEY in wp-config.php." in page


def test_settings_are_checked_and_kept(blog: Blog):
    """A saved key is kept when the field is empty, and a bad value is named and not stored."""
    blog.wordpress.configure(must_use=[PROBE])
    form = blog.editor.open(PAGE).text
    nonce = re.search(r'name="_wpnonce" value="([^"]+)"', form)
    assert nonce
    names = {"url": "worker_url", "zone": "zone_id", "key": "signing_key"}

    def save(**values: str) -> str:
        data = {f"sluice_preload_settings[{names[name]}]": value for name, value in values.items()}
        data |= {"option_page": "sluice_preload", "action": "update", "_wpnonce": nonce[1], "_wp_http_referer": PAGE}
        assert blog.editor.client.post("/wp-admin/options.php", data=data).status_code == 302
        return blog.editor.open(f"{PAGE}&settings-updated=true").text

    page = save(url=f"{blog.recorder.url}/", zone=ZONE, key="a-key-that-was-saved")
    assert "a-key-that-was-saved" not in page
    assert "A key is set." in page
    stored = {"worker_url": blog.recorder.url, "zone_id": ZONE, "signing_key": "a-key-that-was-saved"}
    assert blog.wordpress.ask("get_option( 'sluice_preload_settings' )") == stored
    page = save(url="nonsense:", zone="a zone", key="short")
    assert page.count("settings-error") >= 3
    save(url=blog.recorder.url, zone=ZONE, key="")
    assert blog.wordpress.ask("get_option( 'sluice_preload_settings' )") == stored
    blog.configure()
    blog.forget_failures()


def test_the_test_button_says_what_is_wrong(blog: Blog):
    """The test names the key when that is wrong, and succeeds with words that sound like success."""
    blog.recorder.key = "the-worker-has-another-key"
    page = blog.editor.submit("sluice_preload_test").text
    notice = re.search(r'class="notice notice-error[^>]*><p>([^<]+)', page)
    assert notice
    assert "signing key" in notice[1]
    blog.recorder.key = KEY
    page = blog.editor.submit("sluice_preload_test").text
    notice = re.search(r'class="notice notice-success[^>]*><p>([^<]+)', page)
    assert notice
    assert not [word for word in ("wrong", "invalid", "refused") if word in notice[1].lower()]
    assert "notice-success" not in blog.editor.open(PAGE).text


@pytest.mark.parametrize("action", ["test", "crawl", "purge", "purge_page"])
def test_actions_need_a_nonce(blog: Blog, action: str):
    """A forged request of an administrator's browser does nothing."""
    data = {"action": f"sluice_preload_{action}", "_wpnonce": "0123456789"}
    assert blog.editor.client.post("/wp-admin/admin-post.php", data=data).status_code == 403
    assert blog.recorder.received == []


def test_buttons_crawl_and_purge(blog: Blog):
    """The buttons of the page reach the Worker."""
    blog.editor.submit("sluice_preload_crawl")
    until(lambda: [each for each in blog.recorder.accepted if each.path.endswith("/sitemap")])
    blog.editor.submit("sluice_preload_purge")
    until(lambda: [each for each in blog.recorder.accepted if each.body.get("global")])


def test_the_admin_bar_purges_the_page_shown(blog: Blog):
    """The entry "Purge this page" purges the address that is shown, hard, and returns there."""
    page = blog.editor.open("/category/uncategorized/").text
    link = re.search(r"href=[\'\"]([^\'\"]*action=sluice_preload_purge_page[^\'\"]*)", page)
    assert link, re.findall(r"sluice[^>]{0,200}", page)[:5]
    assert "action=sluice_preload_purge&" in page.replace("&#038;", "&").replace("&amp;", "&")
    target = link[1].replace("&#038;", "&").replace("&amp;", "&").removeprefix(blog.wordpress.url)
    reply = blog.editor.open(target)
    url = f"{blog.wordpress.url}/category/uncategorized/"
    assert reply.headers["Location"] == url
    until(lambda: url in blog.recorder.collect("purge", "urls"))
    [purge] = [each.body for each in blog.recorder.accepted if each.path == "/api/v1/purge"]
    assert "soft" not in purge
    assert "action=sluice_preload_purge" not in blog.visit("/").text


def test_site_health_finds_a_missing_cron_and_another_cache(blog: Blog):
    """DISABLE_WP_CRON matters only until the Worker calls wp-cron.php; another page cache always does."""
    test = "Sluice_Preload_Health::run()"
    registered = (
        "apply_filters( 'site_status_tests', array( 'direct' => array() ) )['direct']['sluice_preload']['label']"
    )
    assert blog.wordpress.ask(registered)
    assert blog.wordpress.ask(f"array( define( 'DISABLE_WP_CRON', true ), {test} )")[1]["status"] == "good"
    blog.forget_failures()
    health = blog.wordpress.ask(f"array( define( 'DISABLE_WP_CRON', true ), {test} )")[1]
    assert health["status"] == "recommended"
    assert "DISABLE_WP_CRON" in health["description"]
    assert health["test"] == "sluice_preload"
    dropin = blog.wordpress.site / "wp-content/advanced-cache.php"
    dropin.write_text("<?php\n")
    blog.configure(WP_CACHE=True)
    health = blog.wordpress.ask(test)
    dropin.unlink()
    blog.configure()
    assert health["status"] == "recommended"
    assert "advanced-cache.php" in health["description"]


def test_commands_purge_warm_and_tell(blog: Blog, monkeypatch: pytest.MonkeyPatch):
    """wp sluice purge, warm and status do what they say; a foreign address is refused by name."""
    monkeypatch.setitem(blog.wordpress.programs.environment, "PROBE_WP_CLI", "1")
    url = f"{blog.wordpress.url}/hello-world/"
    command = "$command = new WP_CLI::$commands['sluice']();"
    assert "Success" in blog.wordpress.run_on_command_line(
        f"{command} $command->purge( array( '{url}' ), array( 'tag' => 'home' ) );"
    )
    assert "Success" in blog.wordpress.run_on_command_line(f"{command} $command->warm( array( '{url}' ), array() );")
    assert "Success" in blog.wordpress.run_on_command_line(f"{command} $command->warm( array(), array() );")
    assert "Success" in blog.wordpress.run_on_command_line(
        f"{command} $command->purge( array(), array( 'all' => true ) );"
    )
    assert "92.5" in blog.wordpress.run_on_command_line(f"{command} $command->status( array(), array() );")
    refused = blog.wordpress.run_on_command_line(
        f"{command} $command->purge( array( 'https://elsewhere.example/' ), array() );"
    )
    assert "Error: https://elsewhere.example/ does not belong to this site" in refused
    assert {url} <= blog.recorder.collect("purge", "urls")
    assert {"home"} <= blog.recorder.collect("purge", "tags")
    assert sum(bool(each.body.get("global")) for each in blog.recorder.accepted) == 1


def test_loaded_twice_it_works_once(blog: Blog):
    """As a plugin and a must-use plugin at once, a change is still sent once."""
    blog.configure(must_use=[PROBE, *PLUGIN_FILES])
    blog.wordpress.run("update_option( 'blogname', 'Twice ' . wp_rand() );")
    until(lambda: blog.recorder.accepted)
    blog.wait_until_sent()
    assert [bool(each.body.get("global")) for each in blog.recorder.received] == [True, False]
    blog.configure()


def test_uninstalling_leaves_nothing(blog: Blog):
    """Options, transients, user meta, the table and cron events go; a new activation starts afresh."""
    blog.editor.open(PAGE)
    blog.wordpress.run("update_user_meta( 1, 'sluice_preload_notice', array( 'type' => 'success', 'text' => 'x' ) );")
    assert len(blog.wordpress.query(LEFT_OVERS)) >= 5
    blog.wordpress.deactivate()
    blog.wordpress.run(
        "require_once ABSPATH . 'wp-admin/includes/plugin.php'; uninstall_plugin( 'sluice-preload/sluice-preload.php' );"
    )
    assert blog.wordpress.query(LEFT_OVERS) == []
    blog.wordpress.activate()
    until(lambda: [each for each in blog.recorder.accepted if each.method == "PUT"])
    blog.wait_until_sent()
