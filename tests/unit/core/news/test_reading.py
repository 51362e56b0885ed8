"""Feeds as they are in the wild: formats, charsets, broken documents and hostile ones."""

import codecs
import gzip
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.charsets import find_codec
from sluice.core.news.charset_detection import decode_text
from sluice.core.news.charset_guess import guess_codec
from sluice.core.news.dates import parse_time
from sluice.core.news.reading import FeedDocument, read_feed
from sluice.core.news.reading.feed_document import MAX_ITEMS, Warn

NOW = datetime(2026, 11, 16, tzinfo=UTC)
URL = "https://paper.example/feeds/all.xml"
BURNER = 'xmlns:f="http://rssnamespace.org/feedburner/ext/1.0"'


def read(body: bytes | str, content_type: str = "application/rss+xml", url: str = URL) -> FeedDocument:
    data = body.encode() if isinstance(body, str) else body
    return read_feed(data, content_type=content_type, url=url, now=NOW)


def rss(items: str, head: str = '<?xml version="1.0"?>', attributes: str = ' version="2.0"') -> str:
    return f"{head}<rss{attributes}><channel><title>Paper</title>{items}</channel></rss>"


def item(title: str, link: str = "https://paper.example/1", more: str = "") -> str:
    return f"<item><title>{title}</title><link>{link}</link>{more}</item>"


def titles(feed: FeedDocument) -> list[str]:
    return [each.title for each in feed.items]


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("shift_jis", "マイナーが増産"),
        ("cp932", "①㈱マイナー"),
        ("euc_jp", "マイナーが増産"),
        ("iso2022_jp", "マイナーが増産"),
        ("gb2312", "矿工增产"),
        ("gb18030", "矿工增产㐀"),
        ("big5", "礦工增產"),
        ("big5hkscs", "礦工嘅收入"),
        ("euc_kr", "채굴자 증가"),
        ("cp949", "채굴자 뷁"),
        ("cp1251", "Майнеры"),
        ("koi8-r", "Майнеры"),
        ("cp1250", "Těžaři"),
        ("cp1254", "Madenciler artış"),
        ("iso8859-15", "Café à 5 €"),
    ],
)
def test_codecs_of_this_interpreter(codec: str, text: str):
    """The interpreter has every codec that feeds need, the Worker's too; the label may stand in header or declaration."""
    body = text.encode(codec)
    label = {"cp932": "shift_jis", "cp949": "euc-kr", "big5hkscs": "big5"}.get(codec, codec)
    assert decode_text(body, f"text/xml; charset={label}").text == text
    declared = f'<?xml version="1.0" encoding="{label}"?>'.encode() + body
    assert decode_text(declared).text.endswith(text)


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("utf8", "utf-8"),
        ("UTF_8", "utf-8"),
        ("ISO-8859-1", "cp1252"),
        ("us-ascii", "cp1252"),
        ("Windows-31J", "cp932"),
        ("x-sjis", "cp932"),
        ("GB2312", "gb18030"),
        ("x-gbk", "gb18030"),
        ("ks_c_5601-1987", "cp949"),
        ("rot13", None),
        ("utf-16", "utf-16"),
        ("utf-16-but-not-really", None),
        ("x-unknown", None),
        ("", None),
    ],
)
def test_labels_mean_the_larger_set(label: str, codec: str | None):
    """A label is read as browsers read it; what is no charset is no codec."""
    assert find_codec(label) == codec


@pytest.mark.parametrize(
    ("body", "content_type", "charset", "agrees"),
    [
        ("Börse €".encode(), "text/xml", "utf-8", True),
        ("Börse €".encode(), "text/xml; charset=iso-8859-1", "utf-8", False),
        (codecs.BOM_UTF8 + "Börse".encode(), "text/xml; charset=koi8-r", "utf-8", False),
        (codecs.BOM_UTF16_LE + "<Börse".encode("utf-16-le"), "", "utf-16le", False),
        ("<Börse".encode("utf-16-be"), "text/xml; charset=utf-16", "utf-16be", True),
        ("Börse “x” zu".encode("cp1252"), "text/xml; charset=utf-8", "windows-1252", False),
        (b"\x81\x8d caf\xe9", "text/xml; charset=windows-1252", "windows-1252", True),
        ("Börse und Café und €".encode() + b" \xe9", "text/xml; charset=utf-8", "utf-8", False),
    ],
)
def test_order_of_the_rules(body: bytes, content_type: str, charset: str, agrees: bool):
    """Mark, valid UTF-8, header, declaration, guess; a wrong byte does not change the charset of the others."""
    decoded = decode_text(body, content_type)
    assert (decoded.charset, decoded.is_as_declared) == (charset, agrees)


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("ビットコインが反発、出来高は増加", "cp932"),
        ("金融庁、税制見直しを検討", "euc_jp"),
        ("비트코인 거래소 신고가", "euc_kr"),
        ("比特币跌破九万美元，市场恐慌", "gb18030"),
        ("比特幣創新高，市場觀望", "big5hkscs"),
        ("Биткоин вырос до рекордной отметки", "cp1251"),
        ("Биткоин вырос до рекордной отметки", "koi8-r"),
        ("Le bitcoin chute après la décision", "cp1252"),
        ("Börse: Bitcoin stürzt über Nacht", "cp1252"),
        ("Το bitcoin σημείωσε νέο ρεκόρ", "cp1253"),
        ("ביטקוין בשיא חדש", "cp1255"),
        ("بيتكوين تسجل رقما قياسيا", "cp1256"),
    ],
)
def test_guesses(text: str, codec: str):
    """Without any declaration the charset is guessed by the characters that it makes."""
    assert guess_codec(text.encode(codec)) == codec


ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xmlns:m="http://search.yahoo.com/mrss/" xml:base="https://b.example/x/">
<title>Atom</title><link rel="self" href="https://b.example/self"/><link rel="hub" href="https://hub.example/"/>
<entry xml:base="y/"><title type="html">A &amp;amp; &lt;i&gt;B&lt;/i&gt;</title><id>urn:1</id>
<link rel="enclosure" href="a.mp3"/><link type="application/pdf" href="a.pdf"/><link type="text/html" href="a.html"/>
<author><name>Ana</name><email>ana@b.example</email></author><category term="mining" label="Mining"/>
<published>2026-11-10T08:00:00+01:00</published><updated>2026-11-11T08:00:00Z</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>One <b>two</b></p><p>three</p></div></content></entry>
<entry><title type="text">C &lt;b&gt; &amp;amp; D</title><id>https://b.example/no-link</id><updated>2026-11-09T08:00:00Z</updated>
<m:group><m:title>Not this</m:title><m:thumbnail url="t.png"/></m:group></entry></feed>"""


def test_atom():
    """Bases nest, the HTML alternate is the link, text titles are literal, and an id is no link."""
    feed = read(ATOM)
    first, second = feed.items
    assert (feed.format, feed.warnings, feed.hub, feed.self_link) == (
        "atom", [], "https://hub.example/", "https://b.example/self",
    )  # fmt: skip
    assert (first.title, first.link, first.id) == ("A & B", "https://b.example/x/y/a.html", "urn:1")
    assert (first.author, first.categories, first.published) == ("Ana", ["Mining"], "2026-11-10T08:00:00+01:00")
    assert " ".join(first.content.split()) == "One two three"
    assert (second.title, second.link, second.image) == ("C <b> &amp; D", "", "https://b.example/x/t.png")


def test_rss_namespaces():
    """Any prefix of a known namespace counts; titles of other namespaces and of images do not."""
    body = rss(
        "<image><title>Logo</title><link>https://no.example/</link></image>"
        + item("Real", more='<x:creator>Bo</x:creator><y:title>No</y:title><x:date>2026-11-09</x:date>'
        '<c:encoded><![CDATA[<p>Body</p>]]></c:encoded><category>One</category><category>Two</category>'
        '<enclosure url="/p.jpg" type="image/jpeg"/><atom:link href="https://no.example/" rel="self"/>'),
        attributes=' xmlns:x="http://purl.org/dc/elements/1.1/" xmlns:y="http://www.itunes.com/dtds/podcast-1.0.dtd" '
        'xmlns:c="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom"',
    )  # fmt: skip
    [only] = read(body).items
    assert (only.title, only.link, only.author) == ("Real", "https://paper.example/1", "Bo")
    assert (only.content, only.categories) == ("<p>Body</p>", ["One", "Two"])
    assert (only.published, only.image) == ("2026-11-09", "https://paper.example/p.jpg")
    assert read(body).warnings == []


@pytest.mark.parametrize(
    ("markup", "link"),
    [
        ("<link>/a</link>", "https://paper.example/a"),
        ("<link>?id=3</link>", "https://paper.example/feeds/all.xml?id=3"),
        ("<link> https://paper.example/a \n</link>", "https://paper.example/a"),
        ("<guid>https://paper.example/g</guid>", "https://paper.example/g"),
        ('<guid isPermaLink="false">https://paper.example/g</guid>', ""),
        ("<guid>urn:x</guid>", ""),
        ("<link>https://p.example/?a=1&amp;amp;b=2</link>", "https://p.example/?a=1&b=2"),
        ("<link>http://[::1</link>", ""),
        (
            f"<link>https://proxy.example/</link><f:origLink {BURNER}>https://p.example/o</f:origLink>",
            "https://p.example/o",
        ),
    ],
)
def test_links(markup: str, link: str):
    """A link is absolute; the original one comes first, a permanent guid last."""
    [only] = read(rss(f"<item><title>T</title>{markup}</item>")).items
    assert only.link == link


@pytest.mark.parametrize(
    ("markup", "title"),
    [
        ("<title>Fed &amp;amp; ECB</title>", "Fed & ECB"),
        ("<title>BTC &lt; $90K &amp; falling</title>", "BTC < $90K & falling"),
        ("<title>&lt;b&gt;Up&lt;/b&gt; again</title>", "Up again"),
        ("<title>a&#160;b&#146;s \u200b c</title>", "a b’s c"),
        ("<title><![CDATA[AT&T]]></title>", "AT&T"),
        ("<description>&lt;p&gt;Only text.&lt;/p&gt;</description>", "Only text."),
        ("<title/><description>Text</description>", "Text"),
    ],
)
def test_titles(markup: str, title: str):
    """A title is plain text; without one the text serves."""
    feed = read(rss(f"<item>{markup}</item>"))
    assert (titles(feed), feed.warnings) == ([title], [])


BROKEN = {
    "entities": (item("Caf&eacute; &mdash; &nosuch;"), ["Café — &nosuch;"]),
    "ampersand": (item("A&B & C", "https://p.example/?a=1&copy=2"), ["A&B & C"]),
    "controls": (item("Up\x0b&#1;down"), ["Up down"]),
    "soup": (item("T", more="<description><p>x<br>y<ul><li>z</description>") + item("U"), ["T", "U"]),
    "unclosed item": ("<item><title>T</title><link>/1</link>" + item("U"), ["T", "U"]),
    "unclosed title": ("<item><title>T<link>/1</link></item>" + item("U"), ["T", "U"]),
    "stray end": (item("T", more="</p></b>") + item("U"), ["T", "U"]),
    "no quotes": (item("T", more="<guid isPermaLink=false>g</guid>"), ["T"]),
    "prefix": (item("T", more="<dc:creator>A</dc:creator>"), ["T"]),
    "less than": (item("1 < 2"), ["1 < 2"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_documents(name: str):
    """What is not well-formed is mended, and every item is read, with a warning."""
    items, expected = BROKEN[name]
    feed = read(rss(items))
    assert (titles(feed), feed.warnings, feed.error) == (expected, [Warn.REPAIRED], None)


def test_link_in_broken_document():
    """A name without a semicolon in an address is no entity."""
    assert read(rss(BROKEN["ampersand"][0])).items[0].link == "https://p.example/?a=1&copy=2"


@pytest.mark.parametrize(
    "cut", ["<item><title>Thi", "<item><title>Third</title><li", "<item><title>Third</title><description><![CDATA[x"]
)
def test_cut_documents(cut: str):
    """Of a document that breaks off, the whole items are read."""
    whole = rss(item("First") + item("Second"))
    feed = read(whole[: whole.index("</channel>")] + cut)
    assert (titles(feed), feed.warnings) == (["First", "Second"], [Warn.TRUNCATED])


@pytest.mark.parametrize("before", ["\n\n ", "<br />\n<b>Warning</b>: oops\n", "junk "])
def test_junk_around(before: str):
    """Junk before and after the feed is not read."""
    feed = read(before + rss(item("T")) + "\n<script>x()</script>")
    assert (titles(feed), feed.warnings) == (["T"], [Warn.REPAIRED])


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/hostname"><!ENTITY % p SYSTEM "https://x.example/d"> %p;]>',
        '<!DOCTYPE rss [<!ENTITY a "]><item><title>fake</title></item>">]>',
    ],
)
def test_entities_are_never_expanded(doctype: str):
    """Declared entities are dropped with a warning, and nothing is fetched."""
    feed = read(rss(item("T", more="<description>&b; &a;</description>"), doctype))
    assert titles(feed) == ["T"]
    assert Warn.DOCTYPE in feed.warnings
    assert "ha" not in feed.items[0].summary


def test_public_doctype_is_clean():
    """The document type of RSS 0.91 is no reason for a warning; it declares HTML's names."""
    doctype = '<?xml version="1.0"?><!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://x.example/rss.dtd">'
    feed = read(rss(item("Caf&eacute;"), doctype))
    assert (titles(feed), feed.warnings) == (["Café"], [])


def test_json_feed():
    """Numbers serve as ids, an item without title has its text, and one without id is told of."""
    items = [
        {"id": 7, "url": "a", "title": "A & <b>", "authors": [{"name": "Ana"}], "tags": ["x"], "image": "/i.png"},
        {"id": "n", "content_text": "A note."},
    ]
    head = {"version": "https://jsonfeed.org/version/1.1", "title": "J"}
    feed = read(json.dumps({**head, "items": items}), "application/feed+json")
    first, second = feed.items
    assert (feed.format, feed.warnings) == ("json", [])
    assert (first.id, first.link, first.title, first.author) == ("7", "https://paper.example/feeds/a", "A & <b>", "Ana")
    assert (second.title, second.link) == ("A note.", "")
    without = read(json.dumps({**head, "items": [{"url": "/x", "title": "T"}, 3]}))
    assert (without.items[0].id, without.warnings) == ("https://paper.example/x", [Warn.REPAIRED, Warn.LOST])


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b'{"error": 429}', "no JSON Feed"),
        (b'{"items": ' + b"[" * 100_000, "begins like JSON"),
        (b"<html><head><title>Just a moment...</title></head></html>", "asks for a browser"),
        (b"<!doctype html><p>Hello", "a page, not a feed"),
        (b"plain words", "neither"),
        (b"<urlset></urlset>", "neither"),
        (bytes(range(256)), "neither"),
    ],
)
def test_not_a_feed(body: bytes, error: str):
    """What is no feed has an error that says what it is, and is never an empty feed."""
    feed = read(body, "text/html")
    assert error in (feed.error or "")
    assert (feed.items, feed.warnings) == ([], [Warn.NOT_A_FEED])


def test_autodiscovery():
    """A page's feeds are found in its order, however their links are written."""
    page = """<!doctype html><link rel="alternate" type="application/rss+xml" href="/a"><LINK HREF=b REL=Alternate
    TYPE=application/atom+xml><link rel="alternate" hreflang="de" href="/de"><link rel=stylesheet href=c>"""
    assert read(page, "text/html").discovered == ["https://paper.example/a", "https://paper.example/feeds/b"]


def test_unlabelled_gzip():
    """A compressed feed is read with a warning; a bomb is cut."""
    feed = read(gzip.compress(rss(item("T")).encode()))
    assert (titles(feed), feed.warnings) == (["T"], [Warn.COMPRESSED])
    bomb = read(gzip.compress(rss(item("T")).encode() + b" " * 50_000_000))
    assert Warn.CUT in bomb.warnings


def test_empty_feed_is_a_feed():
    """A feed without items is no error."""
    feed = read(rss(""))
    assert (feed.items, feed.warnings, feed.error) == ([], [], None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tue, 10 Nov 2026 08:00:00 EST", "2026-11-10T13:00"),
        ("Tuesday, 10 November 2026 08:00:00 +0530", "2026-11-10T02:30"),
        ("10 Nov 26 8:05 PDT", "2026-11-10T15:05"),
        ("Wed, 10 Nov 2026 24:00:00 GMT", "2026-11-11T00:00"),
        ("Nov 10, 2026 08:00 PM GMT", "2026-11-10T20:00"),
        ("Tue Nov 10 08:00:00 UTC 2026", "2026-11-10T08:00"),
        ("Di, 10 Dez 2026 08:00:00 +0100", "2026-12-10T07:00"),
        ("20261110T080000Z", "2026-11-10T08:00"),
        ("2026/11/10 08:00", "2026-11-10T08:00"),
        ("2026-11", "2026-11-01T00:00"),
        ("1794297600", "2026-11-10T08:00"),
        ("sometime in November", None),
        ("99 Nov 2026", None),
        ("Tue, 10 Nov 2026 08:00:00 XYZ", None),
    ],
)
def test_dates(text: str, expected: str | None):
    """Times are read in the forms that feeds use; an unreadable one is told of."""
    time = parse_time(text)
    assert (time.strftime("%Y-%m-%dT%H:%M") if time else None) == expected
    warnings = read(rss(item("T", more=f"<pubDate>{text}</pubDate>"))).warnings
    assert (Warn.DATE in warnings) is (time is None or time > NOW)


def test_number_of_items_is_limited():
    """More items than the limit are cut, and the document says so."""
    feed = read(rss(item("T") * (MAX_ITEMS + 5)))
    assert (len(feed.items), feed.warnings) == (MAX_ITEMS, [Warn.CUT])


@pytest.mark.parametrize(
    "body",
    [
        rss(item("A")) + item("B"),
        rss("<item <title>A</title><link>/1</link></item>" + item("B")),
        "<rss><channel></channel><channel><item><title>A</title></rss>" + item("B") + "</rss>",
    ],
)
def test_third_reader(body: str):
    """When the second reader loses items, feedparser finds them."""
    feed = read(body)
    assert (titles(feed), feed.warnings) == (["A", "B"], [Warn.REPAIRED])


def test_lost_items_are_told():
    """An item that no reader can make anything of is not lost in silence."""
    feed = read(rss(item("A") + "<item><link>/2</link></item>"))
    assert (titles(feed), feed.warnings) == (["A"], [Warn.LOST])


HOSTILE = {
    "open tags": "<a " * 100_000,
    "less than": "<" * 300_000,
    "deep": "<b>" * 100_000,
    "comments": "<!--" * 100_000,
    "sections": "<![CDATA[" * 50_000,
    "scripts": "<description>" + "&lt;script" * 50_000,
    "references": "&" * 300_000,
    "namespaces": "".join(f'<a xmlns:n{number}="u">' for number in range(5_000)),
    "end tags": "</x>" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_end(name: str):
    """No document takes more than linear time, and the items before the attack are read."""
    feed = read(rss(item("First") + "<item><title>x</title>" + HOSTILE[name]))
    assert titles(feed)[:1] == ["First"]
    assert feed.warnings


@given(st.binary(max_size=300))
def test_any_bytes(body: bytes):
    """Any bytes make a document, alone or inside a feed."""
    assert isinstance(read(body), FeedDocument)
    assert isinstance(read(b"<rss><channel><item><title>" + body), FeedDocument)


@given(st.text(alphabet='<>/=&;rsitemlnk "!-[]\u00e9', max_size=200))
def test_any_markup(text: str):
    """Any markup between two items leaves the first one readable."""
    feed = read(rss(item("First") + text + item("Second")))
    assert titles(feed)[:1] == ["First"]
