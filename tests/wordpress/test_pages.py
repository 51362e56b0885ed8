"""What each page says to caches, and whom WordPress believes."""

from collections.abc import Iterator

import httpx
import pytest

from wordpress.blog import Blog, sign_proxy
from wordpress.recording_worker import KEY, RecordingWorker
from wordpress.wordpress_site import WordPress

SHARED = "s-maxage=36000, stale-while-revalidate=3600, stale-if-error=86400"


@pytest.fixture(name="blog", scope="module")
def _blog(wordpress: WordPress, recorder: RecordingWorker) -> Iterator[Blog]:
    recorder.reset()
    blog = Blog(wordpress, recorder)
    yield blog
    blog.wait_until_sent()
    wordpress.deactivate()
    assert wordpress.find_complaints() == []


@pytest.fixture(name="post", scope="module")
def _post(blog: Blog) -> dict[str, object]:
    return blog.publish("A page for all")


def _tags(reply: httpx.Response) -> set[str]:
    assert reply.status_code == 200
    return set(reply.headers["Cache-Tag"].split(","))


def _path(post: dict[str, object]) -> str:
    return httpx.URL(str(post["link"])).path


def test_a_post_names_itself_its_terms_and_its_author(blog: Blog, post: dict[str, object]):
    """A post's page may be shared, and its tags tell what it shows."""
    reply = blog.visit(_path(post))
    assert {f"post-{post['id']}", "term-1", "author-1"} <= _tags(reply)
    assert reply.headers["Cache-Control"] == SHARED


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/", {"home", "list-post"}),
        ("/category/uncategorized/", {"term-1"}),
        ("/author/admin/", {"author-1", "list-author-1"}),
        ("/feed/", {"home", "list-post"}),
        ("/?s=page", {"search"}),
    ],
)
def test_listings_name_themselves_and_their_posts(blog: Blog, post: dict[str, object], path: str, wanted: set[str]):
    """A listing has a tag that a new post purges, and the tags of the posts on it."""
    reply = blog.visit(path)
    assert wanted | {f"post-{post['id']}"} <= _tags(reply)
    assert reply.headers["Cache-Control"] == SHARED


def test_the_sitemap_has_a_tag(blog: Blog, post: dict[str, object]):
    """The sitemap is answered before a template is chosen, and still has its tag."""
    assert post
    assert "sitemap" in _tags(blog.visit("/wp-sitemap.xml"))


def test_pages_for_one_visitor_are_private(blog: Blog, post: dict[str, object]):
    """Whoever sees a page of their own gets it privately: by cookie, by address, by password, or logged in."""
    path = _path(post)
    secret = blog.publish("A secret", password="open")
    replies = [
        blog.visit(path, Cookie="comment_author_0123=Somebody"),
        blog.visit(path, Cookie="wp-postpass_0123=x"),
        blog.visit(path, Cookie="woocommerce_items_in_cart=1"),
        blog.visit(f"{path}?unapproved=1&moderation-hash=abc"),
        blog.visit(f"{path}?preview=true"),
        blog.visit(_path(secret)),
        blog.editor.open(path),
        blog.editor.open("/wp-admin/index.php"),
        blog.visit("/wp-json/wp/v2/posts"),
    ]
    for reply in replies:
        assert reply.status_code == 200, reply.url
        assert "private" in reply.headers["Cache-Control"], reply.url
        assert "Cache-Tag" not in reply.headers


def test_a_cookie_on_a_page_keeps_it_private_and_is_reported(blog: Blog, post: dict[str, object]):
    """A page that sets a cookie is private, and Site Health names the cookie."""
    reply = blog.visit(f"{_path(post)}?probe-cookie")
    assert "private" in reply.headers["Cache-Control"]
    health = blog.wordpress.ask("Sluice_Preload_Health::run()")
    assert health["status"] == "recommended"
    assert "tracker" in health["description"]
    blog.wordpress.run("delete_transient( 'sluice_preload_seen' );")


def test_missing_pages_are_not_shared(blog: Blog):
    """A 404 keeps WordPress' own headers."""
    reply = blog.visit("/no-such-page/")
    assert reply.status_code == 404
    assert "s-maxage" not in reply.headers["Cache-Control"]


def _believed(blog: Blog, headers: dict[str, str]) -> tuple[str, bool, str]:
    seen = blog.visit("/?probe", **headers).json()
    return seen["host"], seen["tls"], seen["address"]


def test_the_workers_word_is_believed(blog: Blog):
    """With a right X-Sluice-Proxy WordPress sees the visitor's host, scheme and address; also without a visitor."""
    assert _believed(blog, sign_proxy(KEY, "www.example.com", "https", "203.0.113.7")) == (
        "www.example.com",
        True,
        "203.0.113.7",
    )
    assert _believed(blog, sign_proxy(KEY, "www.example.com", "https", "")) == ("www.example.com", True, "127.0.0.1")
    forwarded = sign_proxy(KEY, "www.example.com", "http", "203.0.113.7") | {"X-Forwarded-For": "10.0.0.1, 203.0.113.7"}
    assert _believed(blog, forwarded) == ("www.example.com", False, "203.0.113.7")


def test_nobody_elses_word_is_believed(blog: Blog):
    """A missing, wrong, old or borrowed signature changes nothing."""
    right = sign_proxy(KEY, "www.example.com", "https", "203.0.113.7")
    stock = (blog.wordpress.url.partition("://")[2], False, "127.0.0.1")
    assert _believed(blog, {key: value for key, value in right.items() if key != "X-Sluice-Proxy"}) == stock
    assert _believed(blog, sign_proxy("a-key-that-is-wrong", "www.example.com", "https", "203.0.113.7")) == stock
    assert _believed(blog, sign_proxy(KEY, "www.example.com", "https", "203.0.113.7", age_s=400)) == stock
    assert _believed(blog, right | {"X-Forwarded-For": "198.51.100.1"}) == stock
    assert _believed(blog, right | {"X-Forwarded-Host": "evil.example"}) == stock
