"""How the plugin delivers: it never makes the editor wait, and loses nothing."""

import threading
from collections.abc import Iterator

import pytest

from runtime import until
from wordpress.blog import OUTBOX, Blog
from wordpress.recording_worker import KEY, Received, RecordingWorker, Reply
from wordpress.wordpress_site import WordPress

HEALTH = "Sluice_Preload_Health::run()"


@pytest.fixture(name="site", scope="module")
def _site(wordpress: WordPress, recorder: RecordingWorker) -> Iterator[Blog]:
    recorder.reset()
    yield Blog(wordpress, recorder)
    wordpress.deactivate()
    assert wordpress.find_complaints() == []


@pytest.fixture(name="blog")
def _blog(site: Blog) -> Iterator[Blog]:
    site.wait_until_sent()
    site.recorder.reset()
    yield site
    site.recorder.reset()
    site.recorder.key = KEY
    site.forget_failures()


def test_the_signature_is_that_of_the_readme(blog: Blog):
    """The plugin signs the README's test vector as the README says."""
    body = '{"zone_id":"abc123xyz","urls":["https://example.com/"]}'
    key, nonce = "0123456789abcdef0123456789abcdef", "00112233445566778899aabbccddeeff"
    call = f"Sluice_Preload_Client::sign( '{key}', 'POST', '/api/v1/preload', '{body}', 1700000000, '{nonce}' )"
    assert blog.wordpress.ask(call) == {
        "X-Timestamp": "1700000000",
        "X-Nonce": nonce,
        "X-Signature": "8bb14a8e1bb52a6497ccb65c70b0928801f84ac8292049f328b2f81f385cb564",
    }


def test_a_save_does_not_wait_for_the_worker(blog: Blog):
    """Saves return while the Worker holds every reply; once it lets go, all of it has arrived."""
    gate = threading.Event()
    blog.recorder.answer = lambda _request: Reply(202, gate=gate) if not gate.is_set() else None
    posts = [blog.publish(f"While it hangs {number}") for number in range(3)]
    assert not gate.is_set()
    gate.set()
    until(lambda: {post["link"] for post in posts[1:]} <= blog.recorder.collect("preload", "urls"))
    blog.wait_until_sent()


def test_nothing_is_lost_while_the_worker_is_down(blog: Blog):
    """Twenty edits while every request fails: all are delivered afterwards, merged into few requests."""
    down = threading.Event()
    down.set()
    blog.recorder.answer = lambda _request: Reply(502) if down.is_set() else None
    links = {blog.publish(f"During the outage {number}")["link"] for number in range(20)}
    until(lambda: len(blog.recorder.received) >= 2)  # tried again by itself
    failed = len(blog.recorder.received)
    first, second = blog.recorder.received[:2]
    assert first.body == second.body
    assert first.nonce != second.nonce
    down.clear()
    blog.forget_failures()
    until(lambda: links <= blog.recorder.collect("purge", "urls") and links <= blog.recorder.collect("preload", "urls"))
    blog.wait_until_sent()
    assert len(blog.recorder.received) - failed <= 10


def test_a_used_nonce_is_replaced_once(blog: Blog):
    """After 409 the request is signed anew, with the same key; after a second one the row is set aside with its reason."""
    refusals = iter([409])

    def refuse_first(_request: Received) -> Reply | None:
        return Reply(409) if next(refusals, None) else None

    blog.recorder.answer = refuse_first
    blog.wordpress.run("update_option( 'blogname', 'A nonce ' . wp_rand() );")
    until(lambda: len(blog.recorder.accepted) >= 2)
    first, second = blog.recorder.received[:2]
    assert first.body == second.body
    assert first.nonce != second.nonce

    blog.wait_until_sent()
    blog.recorder.reset()
    blog.recorder.answer = lambda request: Reply(409) if request.body.get("global") else None
    blog.wordpress.run("update_option( 'blogname', 'Another nonce ' . wp_rand() );")
    until(lambda: [row for row in blog.wordpress.query(OUTBOX) if row["state"] == "aside"])
    [row] = [row for row in blog.wordpress.query(OUTBOX) if row["state"] == "aside"]
    assert "409" in row["reason"]
    assert sum(bool(each.body.get("global")) for each in blog.recorder.received) == 2
    assert blog.wordpress.ask(HEALTH)["status"] == "recommended"
    blog.wordpress.run("$GLOBALS['wpdb']->query( 'DELETE FROM wp_sluice_preload_outbox' );")


def test_a_bad_request_is_set_aside(blog: Blog):
    """A row that the Worker calls malformed does not stop the others."""
    blog.recorder.answer = lambda request: Reply(400) if request.body.get("global") else None
    blog.wordpress.run("update_option( 'blogname', 'Bad ' . wp_rand() );")
    until(lambda: blog.recorder.accepted)
    blog.wait_until_sent()
    assert [row["kind"] for row in blog.wordpress.query(OUTBOX)] == ["purge"]
    blog.wordpress.run("$GLOBALS['wpdb']->query( 'DELETE FROM wp_sluice_preload_outbox' );")


def test_a_rate_limit_is_waited_for(blog: Blog):
    """After 429 the same row is sent again, not before the time that the Worker asked for."""
    refusals = iter([429])
    blog.recorder.answer = lambda _request: Reply(429, {"Retry-After": "2"}) if next(refusals, None) else None
    blog.wordpress.run("update_option( 'blogname', 'Slow ' . wp_rand() );")
    until(lambda: len(blog.recorder.accepted) >= 2)
    first, second = blog.recorder.received[:2]
    assert first.body == second.body
    assert second.at - first.at >= 1


def test_a_quota_holds_its_own_kind_alone(blog: Blog):
    """Purges of everything have a quota for an hour: one that must wait does not hold up the rest, and stands for later ones."""
    blog.recorder.answer = lambda request: Reply(429, {"Retry-After": "3000"}) if request.body.get("global") else None
    for name in ("One", "Another"):
        blog.recorder.received.clear()
        blog.wordpress.run(f"update_option( 'blogname', '{name} name ' . wp_rand() );")
        until(lambda: [each for each in blog.recorder.received if each.path == "/api/v1/preload"])
    until(lambda: len(blog.list_waiting()) == 1)
    post = blog.publish("Past the quota")
    blog.wait_for("purge", "urls", post["link"])
    [row] = until(lambda: (rows := blog.list_waiting()) and len(rows) == 1 and rows)
    assert (row["kind"], row["attempts"]) == ("purge", "1")
    blog.recorder.answer = lambda _request: None
    blog.wordpress.run(
        "$GLOBALS['wpdb']->query( 'UPDATE wp_sluice_preload_outbox SET due_at = 1' ); Sluice_Preload_Sender::wake();"
    )
    blog.wait_until_sent()
    assert sum(bool(each.body.get("global")) for each in blog.recorder.accepted) == 1


def test_a_wrong_key_stops_and_says_so(blog: Blog):
    """After 401 nothing more is sent, the admin and Site Health say why, and with the right key all of it arrives."""
    blog.recorder.key = "another-key-of-the-worker-0123"
    post = blog.publish("Refused at first")
    until(lambda: blog.wordpress.ask("Sluice_Preload_State::get_stop_reason()"))
    asked = len(blog.recorder.received)
    blog.publish("Not even sent")
    page = blog.editor.open("/wp-admin/index.php").text
    assert "notice-error" in page
    assert "signing key" in page
    assert blog.wordpress.ask(HEALTH)["status"] == "critical"
    assert len(blog.recorder.received) == asked
    tested = blog.editor.submit("sluice_preload_test").text
    assert "notice-error" in tested
    assert "key" in tested

    blog.recorder.key = KEY
    tested = blog.editor.submit("sluice_preload_test").text
    assert "notice-success" in tested
    assert not [word for word in ("wrong", "invalid", "refused") if word in tested.partition("wpbody")[2].lower()]
    blog.wait_for("preload", "urls", post["link"])
    blog.wait_until_sent()
    assert blog.wordpress.ask(HEALTH)["status"] == "good"


def test_a_late_failure_does_not_undo_a_newer_success(blog: Blog):
    """A request that began before the test of the connection and fails after it: what waits is sent at once all the same."""
    gate = threading.Event()
    held: list[Received] = []

    def hold_first(request: Received) -> Reply | None:
        if request.method == "GET" or held:
            return None
        held.append(request)
        return Reply(502, gate=gate)

    blog.recorder.answer = hold_first
    post = blog.publish("Held at first")
    until(lambda: held)
    assert "notice-success" in blog.editor.submit("sluice_preload_test").text
    gate.set()
    blog.wait_for("preload", "urls", post["link"])
    blog.wait_until_sent()
    assert not blog.wordpress.ask("Sluice_Preload_State::load()")["errors"]


def test_the_table_of_an_earlier_version_is_upgraded(blog: Blog):
    """A site whose table has no column for the time of the next try gets it, and loses no row."""
    blog.recorder.answer = lambda _request: Reply(502)
    post = blog.publish("Kept by an earlier version")
    until(lambda: blog.recorder.received)
    blog.wordpress.run(
        "$GLOBALS['wpdb']->query( 'ALTER TABLE wp_sluice_preload_outbox DROP COLUMN due_at' );"
        "update_option( 'sluice_preload_db_version', '1' );"
    )
    blog.recorder.answer = lambda _request: None
    assert blog.wordpress.ask("get_option( 'sluice_preload_db_version' )") == "2"
    columns = {row["Field"]: row["Default"] for row in blog.wordpress.query("DESCRIBE wp_sluice_preload_outbox")}
    assert columns["due_at"] == "0"
    blog.forget_failures()
    blog.wordpress.run("Sluice_Preload_Sender::wake();")
    blog.wait_for("preload", "urls", post["link"])
    blog.wait_until_sent()


def test_rows_that_wait_are_seen_by_site_health(blog: Blog):
    """Rows older than ten minutes are worth a recommendation, without a request."""
    blog.recorder.answer = lambda _request: Reply(502)
    blog.wordpress.run("update_option( 'blogname', 'Old ' . wp_rand() );")
    until(lambda: blog.recorder.received)
    asked = "UPDATE wp_sluice_preload_outbox SET created_at = created_at - 700"
    blog.wordpress.run(f"$GLOBALS['wpdb']->query( '{asked}' );")
    assert blog.wordpress.ask(HEALTH)["status"] == "recommended"
    blog.recorder.reset()
    blog.forget_failures()


def test_cron_sends_what_was_left(blog: Blog):
    """The minute's cron delivers rows that nobody was woken for."""
    blog.wordpress.run(
        "Sluice_Preload_Outbox::add( 'sitemap', array( 'url' => home_url( '/wp-sitemap.xml' ) ) );"
        "do_action( 'sluice_preload_send' );"
    )
    assert [each.path for each in blog.recorder.accepted] == ["/api/v1/zones/blog/sitemap"]
    assert blog.wordpress.ask("wp_get_schedule( 'sluice_preload_send' )") == "sluice_preload_minute"


def test_strangers_cannot_wake_the_sender(blog: Blog):
    """The request that wakes the sender needs a token."""
    assert blog.visit("/?sluice_preload_send=1.2").status_code == 403
