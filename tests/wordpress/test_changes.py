"""What the plugin sends after each kind of change, seen by a Worker that records."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from runtime import until
from wordpress.blog import Blog
from wordpress.recording_worker import RecordingWorker
from wordpress.wordpress_site import WordPress


@pytest.fixture(name="site", scope="module")
def _site(wordpress: WordPress, recorder: RecordingWorker) -> Iterator[Blog]:
    recorder.reset()
    yield Blog(wordpress, recorder)
    wordpress.deactivate()
    assert wordpress.find_complaints() == []


@pytest.fixture(name="blog")
def _blog(site: Blog) -> Iterator[Blog]:
    """The blog with nothing left to send."""
    site.wait_until_sent()
    site.recorder.reset()
    yield site
    site.recorder.reset()


def test_activation_introduces_the_site(blog: Blog):
    """Deactivation is told at once; activation asks for the Worker's cron, names the sitemap and has it crawled, each with a key."""
    blog.wordpress.deactivate()
    assert [each.body["leaves"] for each in blog.recorder.accepted if each.path.endswith("/agent")] == ["deactivated"]
    blog.wordpress.activate()
    # It is sent after the rest.
    until(lambda: any(each.path.endswith("/sitemap") for each in blog.recorder.accepted))
    sitemap_url = f"{blog.wordpress.url}/wp-sitemap.xml"
    found = {(each.method, each.path): each.body for each in blog.recorder.accepted}
    agent = found["PUT", "/api/v1/zones/blog/agent"]
    assert agent["origin_cron_path"] == "/wp-cron.php"
    assert agent["preload_sitemap_url"] == sitemap_url
    assert agent["presence_path"] == "/?sluice_preload_agent=1"
    assert found["POST", "/api/v1/zones/blog/sitemap"]["url"] == sitemap_url
    for body in found.values():
        assert uuid.UUID(body["idempotency_key"].partition("-")[2]).version == 4


def test_publishing_purges_listings_and_warms_pages(blog: Blog):
    """A new post purges its listings' tags and its own address, softly, and warms every page that shows it."""
    post = blog.publish("A first post", tags=[blog.editor.save("tags", name="harbour")["id"]])
    blog.wait_for("preload", "urls", post["link"])
    [purge] = blog.find_purges("home")
    assert purge["soft"] is True
    assert {"list-post", "term-1", f"term-{post['tags'][0]}", "list-author-1"} <= set(purge["tags"])
    assert post["link"] in purge["urls"]
    assert not any(each.method == "POST" and not each.body["idempotency_key"] for each in blog.recorder.received)
    url = blog.wordpress.url
    wanted = {
        f"{url}/",
        f"{url}/feed/",
        f"{url}/category/uncategorized/",
        f"{url}/tag/harbour/",
        f"{url}/author/admin/",
    }
    assert wanted <= blog.recorder.collect("preload", "urls")


def test_an_update_purges_what_shows_the_post(blog: Blog):
    """An edit purges the post's tag and address softly, and leaves its listings' tags alone."""
    post = blog.publish_quietly("To be edited")
    blog.editor.save(f"posts/{post['id']}", content="New words.")
    blog.wait_for("preload", "urls", post["link"])
    [purge] = blog.find_purges(f"post-{post['id']}")
    assert purge["soft"] is True
    assert post["link"] in purge["urls"]
    assert "list-post" not in purge["tags"]


@pytest.mark.parametrize("how", ["draft", "private", "future", "trash", "delete"])
def test_unpublishing_purges_hard(blog: Blog, how: str):
    """A post that goes is purged at its address and in its listings, and no old copy may be served."""
    post = blog.publish_quietly(f"To go by {how}")
    if how in {"draft", "private"}:
        blog.editor.save(f"posts/{post['id']}", status=how)
    elif how == "future":
        blog.editor.save(f"posts/{post['id']}", status=how, date="2035-01-01T00:00:00")
    else:
        blog.editor.delete(f"posts/{post['id']}" + ("?force=true" if how == "delete" else ""))
    until(lambda: blog.find_purges(f"post-{post['id']}"))
    [purge] = blog.find_purges(f"post-{post['id']}")
    assert "soft" not in purge
    assert post["link"] in purge["urls"]
    assert {"home", "list-post", "term-1"} <= set(purge["tags"])
    blog.wait_until_sent()
    assert post["link"] not in blog.recorder.collect("preload", "urls")
    assert f"{blog.wordpress.url}/" in blog.recorder.collect("preload", "urls")


def test_a_new_slug_purges_both_addresses(blog: Blog):
    """The old address has a copy and the new one may have a kept 404."""
    post = blog.publish_quietly("An old name")
    moved = blog.editor.save(f"posts/{post['id']}", slug="a-new-name")
    blog.wait_for("preload", "urls", moved["link"])
    assert {post["link"], moved["link"]} <= blog.recorder.collect("purge", "urls")
    assert post["link"] not in blog.recorder.collect("preload", "urls")


def test_terms_that_a_post_leaves_are_purged(blog: Blog):
    """Archives change on both sides when a post moves to another category."""
    old, new = (blog.editor.save("categories", name=name)["id"] for name in ("Left", "Entered"))
    post = blog.publish_quietly("A mover", categories=[old])
    blog.editor.save(f"posts/{post['id']}", categories=[new])
    blog.wait_for("preload", "urls", post["link"])
    assert {f"term-{old}", f"term-{new}"} <= blog.recorder.collect("purge", "tags")


def test_comments_purge_their_page(blog: Blog):
    """Approving purges softly, unapproving hard; a comment that waits purges nothing."""
    post = blog.publish_quietly("A talk")
    comment = f"array( 'comment_post_ID' => {post['id']}, 'comment_content' => 'Words', 'comment_approved' => 0 )"
    comment_id = blog.wordpress.ask(f"wp_insert_comment( {comment} )")
    blog.wordpress.run(f"wp_set_comment_status( {comment_id}, 'approve' );")
    until(lambda: len(blog.find_purges("comments")) == 1)
    blog.wordpress.run(f"wp_set_comment_status( {comment_id}, 'hold' );")
    until(lambda: len(blog.find_purges("comments")) == 2)
    assert [purge.get("soft", False) for purge in blog.find_purges("comments")] == [True, False]
    assert all(f"post-{post['id']}" in purge["tags"] for purge in blog.find_purges("comments"))


@pytest.mark.parametrize(
    "code",
    [
        "wp_create_nav_menu( 'Main' . wp_rand() ); wp_update_nav_menu_object( wp_get_nav_menus()[0]->term_id, array( 'menu-name' => 'M' . wp_rand() ) );",
        "update_option( 'widget_text', array( wp_rand() => array( 'text' => 'x' ) ) ); update_option( 'widget_text', array() );",
        "wp_update_nav_menu_item( wp_create_nav_menu( 'Items' . wp_rand() ), 0, array( 'menu-item-title' => 'x', 'menu-item-url' => '/', 'menu-item-status' => 'publish' ) );",
        "set_theme_mod( 'colour', wp_rand() );",
        "remove_theme_mods(); set_theme_mod( 'colour', wp_rand() );",
        "do_action( 'switch_theme', 'Name', wp_get_theme(), wp_get_theme() );",
        "do_action( 'customize_save_after', null );",
        "wp_update_custom_css_post( 'a { color: #' . wp_rand( 100, 999 ) . '; }' );",
        "update_option( 'blogname', 'Name ' . wp_rand() );",
    ],
    ids=["menu", "widget", "item", "theme", "first", "switch", "customizer", "css", "title"],
)
def test_what_every_page_shows_purges_everything_once(blog: Blog, code: str):
    """Menus, widgets, theme and site options purge all pages, softly, in one request."""
    blog.wordpress.run(code)
    until(lambda: blog.recorder.accepted)
    blog.wait_until_sent()
    purges = [each.body for each in blog.recorder.accepted if each.path == "/api/v1/purge"]
    assert [(body.get("global"), body.get("soft")) for body in purges] == [(True, True)]


@pytest.fixture(name="kept_post", scope="module")
def _kept_post(site: Blog) -> dict[str, Any]:
    site.wait_until_sent()
    return site.publish_quietly("Changed in passing")


PRODUCT = (
    "new class( {id} ) { public function __construct( private $id ) {} public function get_id() { return $this->id; } }"
)
VARIATION = (
    "new class( {id} ) { public function __construct( private $id ) {}"
    " public function get_id() { return 0; } public function get_parent_id() { return $this->id; } }"
)


@pytest.mark.parametrize(
    "code",
    [
        "update_post_meta( {id}, '_thumbnail_id', wp_rand() );",
        "stick_post( {id} );",
        f"do_action( 'woocommerce_product_set_stock', {PRODUCT} );",
        f"do_action( 'woocommerce_variation_set_stock', {VARIATION} );",
        "do_action( 'woocommerce_product_set_stock_status', {id}, 'outofstock', null );",
        "do_action( 'woocommerce_variation_set_stock_status', wp_insert_post( array( 'post_type' => 'product_variation', 'post_title' => 'v', 'post_status' => 'publish', 'post_parent' => {id} ) ), 'instock', null );",
        "do_action( 'woocommerce_update_product', {id} );",
        "wp_insert_comment( array( 'comment_post_ID' => {id}, 'comment_content' => 'At once', 'comment_approved' => 1 ) );",
        "wp_update_user( array( 'ID' => 1, 'display_name' => 'Name ' . wp_rand() ) );",
    ],
    ids=["picture", "sticky", "stock", "variation", "status", "option", "product", "comment", "author"],
)
def test_what_no_save_tells_purges_the_page_softly(blog: Blog, kept_post: dict[str, Any], code: str):
    """Pictures, sticky posts, stock, comments approved on arrival and names change pages without a save of the post."""
    blog.wordpress.run(code.replace("{id}", str(kept_post["id"])))
    tag = "author-1" if "wp_update_user" in code else f"post-{kept_post['id']}"
    [purge] = until(lambda: blog.find_purges(tag))
    assert purge["soft"] is True
    blog.wait_until_sent()


def test_a_page_takes_its_children_along(blog: Blog):
    """The addresses of all pages below a page change with its name."""
    parent = blog.editor.save("pages", title="Above", status="publish")
    child = blog.editor.save("pages", title="Below", status="publish", parent=parent["id"])
    blog.wait_for("preload", "urls", child["link"])
    blog.wait_until_sent()
    blog.recorder.reset()
    blog.editor.save(f"pages/{parent['id']}", slug="above-renamed")
    purges = until(lambda: [each.body for each in blog.recorder.accepted if each.body.get("global")])
    assert [purge.get("soft") for purge in purges] == [None]


def test_a_term_is_purged_at_both_addresses(blog: Blog):
    """A new slug purges the old and the new archive softly; a deleted term is purged hard."""
    term = blog.editor.save("categories", name="Old term")
    blog.publish_quietly("In a term", categories=[term["id"]])
    renamed = blog.editor.save(f"categories/{term['id']}", slug="new-term")
    until(lambda: {term["link"], renamed["link"]} <= blog.recorder.collect("purge", "urls"))
    assert [purge["soft"] for purge in blog.find_purges(f"term-{term['id']}")] == [True]
    blog.wait_until_sent()
    blog.recorder.reset()
    blog.editor.delete(f"categories/{term['id']}?force=true")
    until(lambda: renamed["link"] in blog.recorder.collect("purge", "urls"))
    assert all("soft" not in purge for purge in blog.find_purges(f"term-{term['id']}"))


def test_first_pages_of_listings_are_warmed(blog: Blog):
    """The blog page and archives are warmed with their next two pages, as far as there are any."""
    page = blog.editor.save("pages", title="The blog", status="publish")
    blog.wordpress.run(
        f"update_option( 'posts_per_page', 1 ); update_option( 'show_on_front', 'page' ); update_option( 'page_for_posts', {page['id']} );"
    )
    for number in range(3):
        blog.publish(f"Of many {number}")
    wanted = {f"{page['link']}{rest}" for rest in ("", "page/2/", "page/3/")}
    wanted |= {f"{blog.wordpress.url}/category/uncategorized/{rest}" for rest in ("", "page/2/", "page/3/", "feed/")}
    until(lambda: wanted <= blog.recorder.collect("preload", "urls"))
    assert f"{page['link']}page/4/" not in blog.recorder.collect("preload", "urls")
    blog.wordpress.run(
        "update_option( 'posts_per_page', 10 ); update_option( 'show_on_front', 'posts' ); delete_option( 'page_for_posts' );"
    )
    blog.wait_until_sent()


def test_what_visitors_do_not_see_sends_nothing(blog: Blog):
    """Drafts, autosaves, scheduled posts, restored posts and internal types are nobody's business."""
    blog.wordpress.run(
        "$id = wp_insert_post( array( 'post_title' => 'Draft', 'post_status' => 'draft' ) );"
        "wp_update_post( array( 'ID' => $id, 'post_title' => 'Draft 2' ) );"
        "require_once ABSPATH . 'wp-admin/includes/post.php'; wp_create_post_autosave( array( 'post_ID' => $id, 'post_title' => 'Autosaved' ) );"
        "wp_insert_post( array( 'post_title' => 'Later', 'post_status' => 'future', 'post_date' => '2035-01-01 00:00:00' ) );"
        "wp_insert_post( array( 'post_title' => 'Inside', 'post_status' => 'publish', 'post_type' => 'nav_menu_item' ) );"
        "wp_trash_post( $id ); wp_untrash_post( $id );"
    )
    assert blog.wordpress.query("SELECT * FROM wp_sluice_preload_outbox") == []
    assert blog.recorder.received == []


@pytest.mark.parametrize(
    "fields",
    [
        "",
        "'post_date' => gmdate( 'Y-m-d H:i:s', 5e7 * ( 20 + $i % 12 ) ), 'post_category' => array( wp_create_category( 'C' . $i % 40 ) ), 'post_author' => 1 + $i % 3",
    ],
    ids=["alike", "diverse"],
)
def test_an_import_takes_few_requests(blog: Blog, fields: str):
    """A hundred posts in one request of WordPress become at most six requests, and every post is in them."""
    blog.wordpress.run(
        "define( 'WP_IMPORTING', true ); require_once ABSPATH . 'wp-admin/includes/taxonomy.php';"
        "for ( $i = 0; $i < 100; $i++ ) {"
        f"wp_insert_post( array( 'post_title' => \"Imported $i\", 'post_status' => 'publish', {fields} ) ); }}"
    )
    until(lambda: len(blog.recorder.collect("preload", "urls")) >= 100)
    blog.wait_until_sent()
    assert len(blog.recorder.received) <= 6
    links = {f"{blog.wordpress.url}/imported-{number}/" for number in range(100)}
    assert links <= blog.recorder.collect("purge", "urls")
    assert links <= blog.recorder.collect("preload", "urls")
    assert all(len(each.body.get("urls", [])) <= 100 for each in blog.recorder.received)
    assert all(len(each.body.get("tags", [])) <= 30 for each in blog.recorder.received)
    blog.wordpress.run(
        "foreach ( get_posts( array( 's' => 'Imported', 'numberposts' => -1, 'fields' => 'ids' ) ) as $id ) { wp_delete_post( $id, true ); }"
    )


def test_foreign_addresses_are_left_out(blog: Blog):
    """The Worker refuses a whole request for one URL of another host, so such a URL is never sent."""
    blog.wordpress.run(
        "add_filter( 'post_link', function () { return 'https://elsewhere.example/a/'; } );"
        "wp_insert_post( array( 'post_title' => 'Elsewhere', 'post_status' => 'publish' ) );"
    )
    until(lambda: blog.find_purges("home"))
    blog.wait_until_sent()
    urls = blog.recorder.collect("purge", "urls") | blog.recorder.collect("preload", "urls")
    assert urls
    assert all(url.startswith(blog.wordpress.url) for url in urls)
