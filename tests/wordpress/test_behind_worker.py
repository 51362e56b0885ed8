"""The plugin with the real Worker in workerd in front of WordPress: what editors do, visitors see."""

import html
import time
from collections.abc import Iterator

import httpx
import pytest

from runtime import PATIENCE_S, until
from wordpress.blog import OUTBOX
from wordpress.edge import Edge, run_behind_worker
from wordpress.editor import Editor
from wordpress.wordpress_site import WordPress

COMMENT = "wp-comments-post.php"


def is_hit(reply: httpx.Response) -> bool:
    return reply.headers.get("X-Cache") == "HIT" or "; hit" in reply.headers.get("Cache-Status", "")


@pytest.fixture(name="edge", scope="module")
def _edge(wordpress: WordPress, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Edge]:
    with run_behind_worker(wordpress, tmp_path_factory.mktemp("state")) as edge:
        yield edge
        wordpress.deactivate()
        assert wordpress.find_complaints() == []


def test_a_stock_configuration_serves_visitors_who_are_not_cached(edge: Edge):
    """WordPress believes the Worker's signed word about each request: pages, not redirects to another host."""
    edge.publish_warm("In stock")
    for path in ("/?nothing=cached", "/in-stock/?nothing=cached", "/wp-login.php", "/feed/?nothing=cached"):
        page = edge.visit(path)
        assert page.status_code == 200, (path, page.headers)
        assert not is_hit(page)
        assert f'="{edge.wordpress.origin}' not in page.text
    redirected = edge.visit("/in-stock")
    assert redirected.headers["Location"] == f"{edge.url}/in-stock/"


def test_a_new_post_is_warm_before_anybody_asks(edge: Edge):
    """Publishing warms the post and the front page: their first visitors get copies that show it."""
    post = edge.publish_warm("Warm from the start")
    page = edge.visit(post["link"])
    assert is_hit(page), page.headers
    assert "Old words of Warm from the start" in page.text
    home = until(lambda: (reply := edge.visit("/")) and "Warm from the start" in reply.text and reply)
    assert home.status_code == 200
    assert "Cache-Tag" not in page.headers


def test_an_update_reaches_visitors(edge: Edge):
    """After an edit visitors get the new text, and soon from a copy."""
    post = edge.publish_warm("To be changed")
    assert "Old words" in edge.visit(post["link"]).text
    edge.editor.save(f"posts/{post['id']}", content="Entirely new words.")
    until(lambda: "Entirely new words." in edge.visit(post["link"]).text)
    until(lambda: is_hit(reply := edge.visit(post["link"])) and "Entirely new words." in reply.text)


def test_a_trashed_post_is_gone(edge: Edge):
    """A post in the trash is served to nobody, and no listing shows it."""
    post = edge.publish_warm("To be trashed")
    assert edge.visit(post["link"]).status_code == 200
    edge.editor.delete(f"posts/{post['id']}")
    until(lambda: edge.visit(post["link"]).status_code == 404)
    until(lambda: "To be trashed" not in edge.visit("/").text)


def test_an_old_address_leads_to_the_new_one(edge: Edge):
    """After a new slug the old address redirects, and the new one has the page."""
    post = edge.publish_warm("A name to change")
    assert edge.visit(post["link"]).status_code == 200
    moved = edge.editor.save(f"posts/{post['id']}", slug="a-changed-name")
    until(lambda: edge.visit(post["link"]).status_code in {301, 404})
    until(lambda: "Old words" in edge.visit(moved["link"]).text)


def test_a_logged_in_visitor_neither_gets_nor_fills_a_shared_page(edge: Edge):
    """An administrator sees the admin bar on a page, and nobody else ever does."""
    post = edge.publish_warm("For all and one")
    path = httpx.URL(post["link"]).path
    assert is_hit(edge.visit(post["link"]))
    own = edge.editor.open(path)
    assert 'id="wpadminbar"' in own.text
    assert not is_hit(own)
    edge.ask_operator("POST", "pause")
    edge.wordpress.run(f"wp_update_post( array( 'ID' => {post['id']}, 'post_content' => 'Third words.' ) );")
    edge.wait_until_sent()
    assert 'id="wpadminbar"' in edge.editor.open(path).text  # the first to ask after the purge
    edge.ask_operator("POST", "resume")
    until(lambda: "Third words." in (reply := edge.visit(post["link"])).text and 'id="wpadminbar"' not in reply.text)
    for _ in range(3):
        assert 'id="wpadminbar"' not in edge.visit(post["link"]).text


def test_a_comment_that_waits_is_seen_by_its_author_alone(edge: Edge):
    """The author's own address shows the comment; other visitors see it when it is approved."""
    post = edge.publish_warm("A discussion")
    form = {"comment_post_ID": str(post["id"]), "comment": "Seen by one", "author": "Ann", "email": "ann@example.org"}
    host = {"Host": edge.url.partition("://")[2], "CF-Connecting-IP": "203.0.113.9"}
    sent = httpx.post(f"{edge.runtime.url}/{COMMENT}", data=form, headers=host, timeout=PATIENCE_S)
    assert sent.status_code == 302, sent.text[:300]
    own = edge.visit(html.unescape(sent.headers["Location"].partition("#")[0]))
    assert "unapproved=" in sent.headers["Location"]
    assert "Seen by one" in own.text, (own.status_code, own.headers, sent.headers)
    for _ in range(3):
        assert "Seen by one" not in edge.visit(post["link"]).text
    comment = f"get_comments( array( 'post_id' => {post['id']} ) )[0]"
    edge.wordpress.run(f"wp_set_comment_status( {comment}->comment_ID, 'approve' );")
    until(lambda: "Seen by one" in edge.visit(post["link"]).text)
    assert edge.wordpress.ask(f"{comment}->comment_author_IP") == "203.0.113.9"


def test_a_scheduled_post_appears_on_a_warm_site(edge: Edge):
    """The Worker's cron calls wp-cron.php, which publishes what is due; visitors see it."""
    post_id = edge.wordpress.ask(
        "wp_insert_post( array( 'post_title' => 'At its hour', 'post_status' => 'future', 'post_date' => '2035-01-01 00:00:00' ) )"
    )
    # Its hour comes, in the database: nobody has asked WordPress since. It is the newest post, so the front page begins with it.
    edge.wordpress.run(
        f"wp_clear_scheduled_hook( 'publish_future_post', array( {post_id} ) );"
        f"$GLOBALS['wpdb']->update( $GLOBALS['wpdb']->posts, array_fill_keys( array( 'post_date', 'post_date_gmt' ), gmdate( 'Y-m-d H:i:s' ) ), array( 'ID' => {post_id} ) );"
        f"wp_schedule_single_event( time() - 60, 'publish_future_post', array( {post_id} ) );"
    )
    assert edge.runtime.cron("edge-preload", "* * * * *").status_code == 200
    until(lambda: edge.visit("/at-its-hour/").status_code == 200)
    until(lambda: "At its hour" in edge.visit("/").text)


def test_the_page_reads_the_workers_status(edge: Edge):
    """The test button succeeds with the real Worker, and fails by name with another key."""
    # A Worker that is busy may take longer than the plugin waits, so each press is repeated.
    until(lambda: _shows(edge.editor.submit("sluice_preload_test").text, "notice-success", "Pages in the Worker"))
    edge.ask_operator("POST", "pause")  # with another key WordPress believes the Worker nothing, and redirects it
    edge.configure(key="another-key-0123456789")
    editor = Editor(edge.wordpress)
    until(lambda: _shows(editor.submit("sluice_preload_test").text, "notice-error", "signing key"))
    edge.configure()
    edge.ask_operator("POST", "resume")
    edge.wordpress.run("delete_option( 'sluice_preload_state' );")


def _shows(page: str, *texts: str) -> bool:
    return all(text in page for text in texts)


def test_edits_during_an_outage_arrive_afterwards(edge: Edge):
    """The Worker is killed, posts are edited at the origin, the Worker comes back: visitors see every edit."""
    posts = [edge.publish_warm(f"Before the outage {number}") for number in range(3)]
    direct = Editor(edge.wordpress)
    edge.runtime.kill()
    for post in posts:
        direct.save(f"posts/{post['id']}", content=f"Edited in the dark at {time.time()}.")
    assert edge.wordpress.query(OUTBOX)
    edge.runtime.start()
    # Whoever tests the connection need not wait for the next try. While the Worker is still busy with its start, a test may
    # take too long, so it is repeated.
    until(lambda: "notice-success" in direct.submit("sluice_preload_test").text and not edge.wordpress.query(OUTBOX))
    links = [post["link"] for post in posts]
    until(lambda: all("Edited in the dark" in edge.visit(link).text for link in links))
