"""No setting of a zone leads anywhere but to the zone: paths and addresses are joined to its site."""

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.errors import Invalid
from sluice.core.preload.zone_config import check_site_path, parse_config

SITE = "https://www.example.com"


@pytest.mark.parametrize(
    "path",
    [
        "/..//127.0.0.1:8801",
        "/../x",
        "/a/..//10.0.0.1/",
        "/a/./b",
        "/.",
        "/%2e%2e//127.0.0.1",
        "/.%2E//127.0.0.1",
        "//127.0.0.1:8801/",
        "/\\127.0.0.1",
        "\\\\127.0.0.1",
        "/a\\..\\b",
        "/a\n/b",
        "/a\tb",
        "/a\x00",
        "/a\x7f",
        "/a b",
        "/ä",
        "/a#b",
        "@127.0.0.1/",
        ":80@127.0.0.1/",
        ".example.org/",
        "https://127.0.0.1/",
        "",
        "a",
    ],
)
def test_paths_that_lead_elsewhere(path: str):
    """A path that a parser could read as another host is refused by name, whoever sets it."""
    with pytest.raises(Invalid) as refusal:
        parse_config({"site_url": SITE, "origin_cron_path": path})
    assert "origin_cron_path" in str(refusal.value)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/wp-cron.php",
        "/wp-cron.php?doing_wp_cron",
        "/a//b",
        "/@me",
        "/a:b",
        "/..a/b..",
        "/a?next=/../x",
        "/a%20b?",
    ],
)
def test_paths_of_the_site(path: str):
    """An ordinary path is taken as it is."""
    assert parse_config({"site_url": SITE, "origin_cron_path": path}).origin_cron_path == path


@given(st.text(alphabet="/.\\%2eE@:?#a1 \t\r\n", max_size=20).map(lambda text: f"/{text}"))
def test_any_path_stays_on_the_site(path: str):
    """Whatever is accepted stays at the site's host, appended to it, joined to it, and after its dots were taken away."""
    try:
        check_site_path(path)
    except ValueError:
        return
    decoded = path.partition("?")[0].replace("%2e", ".").replace("%2E", ".")
    for url in (SITE + path, urljoin(SITE, path), urljoin(f"{SITE}/a/b", path), urljoin(SITE, decoded)):
        assert urlsplit(url)[:2] == urlsplit(SITE)[:2]
        assert not urlsplit(url).path.startswith("//")


@pytest.mark.parametrize(
    "url",
    [
        "{site_url}@127.0.0.1/s.xml",
        "{site_url}:80@127.0.0.1/s.xml",
        "{site_url}.evil.example/s.xml",
        "https://www.example.com\\@evil.example/s.xml",
        "https://evil.example\\.www.example.com/s.xml",
        "//evil.example/s.xml",
        "/s.xml",
        "file:///etc/passwd",
    ],
)
def test_sitemaps_that_lead_elsewhere(url: str):
    """A sitemap is on one of the zone's own hosts, in every reading of its address."""
    with pytest.raises(Invalid, match="preload_sitemap_url"):
        parse_config({"site_url": SITE, "preload_sitemap_url": url})


@pytest.mark.parametrize("field", ["site_url", "origin_url"])
@pytest.mark.parametrize(
    "url",
    [f"{SITE}/path", f"{SITE}/..//x", f"{SITE}?a", f"{SITE}#a", "https://a@b.example", "ftp://b.example", "//b", ""],
)
def test_origins_are_a_scheme_and_a_host(field: str, url: str):
    """Nothing may stand behind the host, so that a path can be appended."""
    with pytest.raises(Invalid, match=field):
        parse_config({"site_url": SITE} | {field: url})


@pytest.mark.parametrize("name", ["User-Agent", "cookie", "Accept", "not a name"])
def test_headers_that_cannot_make_variants(name: str):
    """A header that differs for nearly every visitor would make a copy for each of them."""
    with pytest.raises(Invalid, match="cache_vary_headers"):
        parse_config({"site_url": SITE, "cache_vary_headers": ["x-plan", name]})
    assert parse_config({"site_url": SITE, "cache_vary_headers": ["X-Plan"]}).cache_vary_headers == ["x-plan"]
