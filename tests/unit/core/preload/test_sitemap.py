"""Sitemaps, valid and hostile."""

import gzip
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.errors import Refused
from sluice.core.preload.sitemap import Sitemap, SitemapLink, SitemapReader, parse_robots_sitemaps, parse_w3c_time

NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def read(body: bytes | str, *, chunk: int = 7, **limits: int) -> Sitemap:
    content = body if isinstance(body, bytes) else body.encode()
    reader = SitemapReader(**limits)
    for at in range(0, len(content), chunk):
        reader.feed(content[at : at + chunk])
    return reader.finish()


def urlset(inside: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {NAMESPACE}>{inside}</urlset>'


def test_pages():
    """URLs with their dates; CDATA, escapes and spaces are read, images and videos ignored."""
    body = urlset(
        "<url><loc> https://e.com/a?x=1&amp;y=2\n</loc><lastmod>2026-11-16</lastmod><priority>0.5</priority></url>"
        "<url><loc><![CDATA[https://e.com/b]]></loc></url>"
        '<url xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><loc>https://e.com/c</loc>'
        "<image:image><image:loc>https://e.com/i.png</image:loc></image:image><lastmod>never</lastmod></url>"
        "<url><lastmod>2026-11-16</lastmod></url>"
    )
    assert read(body).pages == [
        SitemapLink("https://e.com/a?x=1&y=2", 1_794_787_200.0),
        SitemapLink("https://e.com/b", None),
        SitemapLink("https://e.com/c", None),
    ]


def test_index():
    """An index names further sitemaps."""
    body = f"<sitemapindex {NAMESPACE}><sitemap><loc>https://e.com/1.xml</loc></sitemap></sitemapindex>"
    sitemap = read(body)
    assert ([each.url for each in sitemap.sitemaps], sitemap.pages) == (["https://e.com/1.xml"], [])


@pytest.mark.parametrize("chunk", [1, 2, 3, 1000])
def test_gzip_by_magic(chunk: int):
    """Compressed files are recognised by their first bytes, not by their names."""
    body = gzip.compress(urlset("<url><loc>https://e.com/a</loc></url>").encode())
    assert [each.url for each in read(body, chunk=chunk).pages] == ["https://e.com/a"]


BOMB = '<!DOCTYPE u [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + urlset("<url><loc>&b;</loc></url>")[38:]


@pytest.mark.parametrize(
    "body",
    [
        BOMB,
        '<!DOCTYPE u SYSTEM "http://169.254.169.254/x"><urlset/>',
        "<urlset><url><loc>https://e.com/",
        "not xml at all",
        "",
        "<html><body>404</body>",
        urlset("<url><loc>" + "a" * 5000 + "</loc></url>"),
        "<urlset>" + "<a>" * 40,
        gzip.compress(urlset("").encode())[:-9],
        b"\x1f\x8b" + b"\x00" * 40,
    ],
)
def test_refused(body: bytes | str):
    """Document types, broken XML, very long texts and broken archives are refused."""
    with pytest.raises(Refused):
        read(body)


def test_bombs():
    """A small file that decompresses to a huge one stops at the limit, and is never in memory as a whole."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    huge = (
        packer.compress(b"<urlset>") + b"".join(packer.compress(b" " * 1_000_000) for _ in range(60)) + packer.flush()
    )
    assert len(huge) < 100_000
    with pytest.raises(Refused, match="larger than 52428800 bytes"):
        read(huge, chunk=65_536)
    with pytest.raises(Refused, match="more than 2 URLs"):
        read(urlset("<url><loc>https://e.com/</loc></url>" * 3), max_urls=2)


@given(st.binary(max_size=200))
def test_anything(body: bytes):
    """Any input is read, the same in pieces of any size, or refused each time."""

    def read_in(chunk: int) -> Sitemap | None:
        with suppress(Refused):
            return read(body, chunk=chunk)
        return None

    assert read_in(1) == read_in(7) == read_in(len(body) + 1)


def test_dates():
    """W3C dates with and without a time."""
    assert parse_w3c_time("2026-11-16T05:00:00+01:00") == parse_w3c_time("2026-11-16T04:00:00Z")
    assert parse_w3c_time("yesterday") is None
    assert parse_w3c_time("") is None


def test_robots():
    """Sitemap lines of a robots.txt, in any spelling."""
    text = "User-agent: *\nDisallow: /\nSITEMAP: https://e.com/s.xml\n sitemap:https://e.com/t.xml\n# Sitemap: x\n"
    assert parse_robots_sitemaps(text) == ["https://e.com/s.xml", "https://e.com/t.xml"]
