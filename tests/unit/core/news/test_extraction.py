"""Extracting articles: what is kept, what is left out, and how much work a hostile page may cause."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.json_text import parse_bounded_json
from sluice.core.news.charset_detection import decode_text
from sluice.core.news.extraction import extract
from sluice.core.news.extraction.blocks import MAX_CHARS as MAX_TEXT
from sluice.core.news.extraction.tree import MAX_DEPTH, MAX_NODES, MAX_STEPS, Node, parse

SENTENCE = "Bitcoin rose on Monday as buyers came back to the market after a quiet weekend."
PARAGRAPHS = [f"{SENTENCE} This is paragraph number {n}, and it goes on for a while." for n in range(4)]
BODY = "".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS)


def page(content: str) -> str:
    nav = "<nav><a href=/>Home</a><a href=/news>News about everything that has happened today in the world</a></nav>"
    footer = "<footer><p>Copyright by the publisher of this site, who reserves all the rights there are.</p></footer>"
    return f"<!doctype html><html><head><title>A &amp; B</title></head><body>{nav}{content}{footer}</body></html>"


@pytest.mark.parametrize(
    "content",
    [
        f"<article>{BODY}</article>",
        f"<main><div class=x>{BODY}</div></main>",
        f"<div id=content><div itemprop=articleBody>{BODY}</div></div>",
        f"<table><tr><td>{BODY}</td></tr></table>",
        f"<div><div class='post-content'>{BODY}</div><div class=sidebar><p>{SENTENCE} Not this one.</p></div></div>",
        "<article>" + BODY.replace("</p>", "") + "</article>",
        f"<body class='has-sidebar comments-open'><div class='hentry tag-share category-footer'>{BODY}</div>",
        f"<article><div class='article-sidebar'><p>{SENTENCE} Not this one.</p></div>{BODY}</article>",
        f"<div class='social-share related'>{BODY}</div>",
        f"<noscript><p>Please switch on JavaScript.</p></noscript><section>{BODY}</section>",
        f"<div style='display: none'><p>{SENTENCE} Not this one.</p></div>{BODY}",
    ],
)
def test_paragraphs_are_found(content: str):
    """With any markup the paragraphs are complete and in order, and nothing around them is included."""
    text = extract(page(content)).text
    assert text.split("\n") == PARAGRAPHS


def test_title():
    """The title of the page is returned with decoded entities."""
    assert extract(page(BODY)).title == "A & B"


def test_inline_markup_leaves_no_gaps():
    """Links and emphasis do not interrupt the text, and entities are decoded once."""
    html = f"<article><p>The <b>Fed</b>&#39;s <a href=x>rate&nbsp;cut</a>, of 3 &lt; 4 points. {SENTENCE}</p>{BODY}</article>"
    assert extract(html).text.startswith(f"The Fed's rate cut, of 3 < 4 points. {SENTENCE}")


def test_comments_are_left_out():
    """Comments of any length are not part of the article."""
    comments = "".join(
        f"<div class=comment-body><p>{SENTENCE} says reader {n}, at length.</p></div>" for n in range(40)
    )
    text = extract(page(f"<article>{BODY * 2}</article><div class=comments>{comments}</div>")).text
    assert "says reader" not in text


def test_lists_of_links_are_left_out():
    """A list of links inside the article is not part of it; a list of facts is."""
    links = (
        "<ul>"
        + "".join(f"<li><a href=/{n}>Another story that is worth your time {n}</a></li>" for n in range(5))
        + "</ul>"
    )
    facts = "<ul><li>First fact</li><li>Second fact</li></ul>"
    text = extract(page(f"<article>{BODY}{links}{facts}<p>{SENTENCE}</p></article>")).text
    assert "Another story" not in text
    assert "First fact\nSecond fact" in text


def test_asides_are_left_out():
    """Single lines of the site among the paragraphs are removed."""
    html = f"<article>{BODY}<p>Read more: another story</p><p>Photo by Somebody</p><p>{SENTENCE}</p><p>© 2026</p></article>"
    assert extract(html).text.split("\n") == [*PARAGRAPHS, SENTENCE]


def test_json_ld():
    """If the page itself shows no text, the JSON-LD of the publisher is used."""
    body = " ".join(PARAGRAPHS)
    script = f'<script type="application/ld+json">{{"@graph": [{{"@type": "NewsArticle", "articleBody": "{body}"}}]}}</script>'
    assert extract(page(f"{script}<div id=root></div>")).text == body


def test_no_article():
    """A page without text has no article."""
    assert extract(page("<div id=root></div>")).text == ""
    assert extract("").text == ""


def test_misnested_markup():
    """Tags that are closed in the wrong order, never or twice lose no text."""
    html = (
        f"<article><p><b>{PARAGRAPHS[0]}</p></b></i></div><p>{PARAGRAPHS[1]}<p><a href='x>{PARAGRAPHS[2]}</a></article>"
    )
    text = extract(html).text
    assert PARAGRAPHS[0] in text
    assert PARAGRAPHS[1] in text


SIZE = 600_000
HOSTILE = {
    "deep": "<div>" * (SIZE // 5) + SENTENCE,
    "deep with text": "<div>word " * (SIZE // 10),
    "unclosed quotes": '<a "' * (SIZE // 4),
    "angle brackets": "<" * SIZE,
    "comments": "<!--" * (SIZE // 4),
    "scripts": "<script>" * (SIZE // 8),
    "slashes in a script": "<script>" + "</" * (SIZE // 2),
    "closing what is out of reach": "<div><table><tr><td>" + "<b>" * 90 + "</div>" * (SIZE // 6),
    "closing nothing": "</div>" * (SIZE // 6),
    "paragraphs in bold": "<p>" + "<b>" * 90 + "<p>" * (SIZE // 3),
    "list items in bold": "<ul><li>" + "<b>" * 90 + "<li>" * (SIZE // 4),
    "attributes": "<p " + "a=b " * (SIZE // 4) + ">x",
    "one attribute": "<p " + "a" * SIZE + ">x",
    "tables": "<table><tr><td>" * (SIZE // 15) + "text",
    "entities": "&amp;" * (SIZE // 5),
    "text": SENTENCE * (SIZE // 80),
    "brackets": '<script type="application/ld+json">' + "[" * SIZE + "</script>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages(name: str):
    """No page takes more steps, elements, levels or text than the limits."""
    html = HOSTILE[name]
    tree = parse(html)
    assert tree.steps <= MAX_STEPS + MAX_DEPTH
    depth, nodes, level = 0, 0, [tree.root]
    while level:
        nodes += len(level)
        depth += 1
        level = [child for node in level for child in node.children if isinstance(child, Node)]
    assert nodes <= MAX_NODES + 1
    assert depth <= MAX_DEPTH + 1
    assert len(extract(html).text) <= 2 * MAX_TEXT


@pytest.mark.parametrize("unit", ["<div>", "<p>", '<a "', "</b>", "<!--", "<li><b>", "<td>"])
def test_work_grows_with_the_page(unit: str):
    """A page of twice the length takes about twice the work."""
    some, twice = (parse(unit * count).steps for count in (1_000, 2_000))
    assert twice <= 2.2 * some + 200


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("Zürich".encode(), "", "Zürich"),
        ("Zürich".encode("cp1252"), "", "Zürich"),
        ("Zürich €".encode("cp1252"), "text/html; charset=ISO-8859-1", "Zürich €"),
        ("Zürich".encode(), "text/html; charset=iso-8859-1", "Zürich"),
        (
            b'<meta charset="windows-1251">' + "Биткоин".encode("cp1251"),
            "text/html",
            '<meta charset="windows-1251">Биткоин',
        ),
        (b"\xef\xbb\xbfabc", "text/html; charset=latin1", "abc"),
        (b"\xff\xfea\x00b\x00", "", "ab"),
        ("比特币".encode("gbk"), "text/html; charset=gb2312", "比特币"),
        (b"abc", "text/html; charset=no-such-thing", "abc"),
        (b"abc", "text/html; charset=rot13", "abc"),
        (b'<meta charset="utf-16">abc', "", '<meta charset="utf-16">abc'),
        (b"a\xffb", "text/html; charset=utf-8", "aÿb"),
    ],
)
def test_charset(body: bytes, content_type: str, text: str):
    """The charset is decided by byte order mark, valid UTF-8, header, declaration, and then by a guess."""
    assert decode_text(body, content_type).text == text


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '["' + "[" * 100, "[" * 65 + "]" * 65])
def test_deep_json(text: str):
    """JSON that would exhaust the stack is refused, and so is invalid JSON."""
    with pytest.raises(ValueError, match=r"nested|Unterminated"):
        parse_bounded_json(text)


def test_deep_json_in_strings():
    """Brackets inside a string do not count as nesting."""
    assert parse_bounded_json('["' + "[" * 500 + '"]') == ["[" * 500]


@given(st.text(alphabet="<>/='\"!-?&;#abdiprstuv \n\u00e9", max_size=300))
def test_any_page(html: str):
    """Any page is extracted without an error."""
    assert isinstance(extract(html).text, str)


@given(st.binary(max_size=300), st.text(max_size=40))
def test_any_bytes(body: bytes, content_type: str):
    """Any bytes are decoded without an error."""
    assert isinstance(decode_text(body, content_type).text, str)


SENTENCE = (
    "The grid operator counted {} machines in the hall and said that nobody had asked for more power since the spring."
)
HALLS = "".join(f"<p>{SENTENCE.format(number)}</p>" for number in range(3, 9))


@pytest.mark.parametrize(
    "name", ["lead", "article__intro", "standfirst", "entry-excerpt", "subtitle", "article-teaser"]
)
def test_intro_outside_of_the_body(name: str):
    """The paragraph between title and body belongs to the article, in whatever element it stands."""
    intro = "A hall full of machines stands idle in the north, because the price of power has doubled within a year."
    html = (
        f"<main><article><header><h1>Idle</h1><div class='{name}'>{intro}</div></header>"
        f"<div class='article-body'>{HALLS}</div></article></main>"
    )
    text = extract(html).text
    assert text.startswith(intro)
    assert text.count(intro) == 1


def test_teasers_of_other_articles_are_no_intro():
    """A list of teasers before the article is not taken for its intro."""
    teasers = "".join(
        f"<div class='teaser-text'>Another story about number {number} that has nothing to do with the hall in the north.</div>"
        for number in range(4)
    )
    html = f"<body><section class='intro'>{teasers}</section><article><div class='article-body'>{HALLS}</div></article></body>"
    assert "Another story" not in extract(html).text


def test_structured_body_is_longer():
    """When the page shows only a part of the body that it gives to search engines, that body is taken."""
    sentences = " ".join(SENTENCE.format(number) for number in range(10, 22))
    html = f'<script type="application/ld+json">{{"articleBody": "{sentences}"}}</script><article>{HALLS}</article>'
    assert "20 machines" in extract(html).text


@pytest.mark.parametrize(
    "markup",
    [
        "<ul><li>The first hall holds 4,300 machines</li><li>The second hall is empty</li></ul>",
        "<blockquote><p>The first hall holds 4,300 machines</p></blockquote>",
        "<table><tr><th>Hall</th><td>The first hall holds 4,300 machines</td></tr></table>",
        "<dl><dt>Halls</dt><dd>The first hall holds 4,300 machines</dd></dl>",
        "<pre>The first hall holds 4,300 machines</pre>",
    ],
)
def test_lists_tables_and_quotes(markup: str):
    """What stands between the paragraphs of an article belongs to it, also without a full stop."""
    html = f"<article><div class='article-body'>{HALLS}{markup}{HALLS.replace('hall', 'yard')}</div></article>"
    assert "The first hall holds 4,300 machines" in extract(html).text


def test_titles_of_the_page():
    """The page's own titles: of its head, its heading and its structured data, each once."""
    page = (
        '<head><title>Kestrel buys &amp; holds | Site</title><meta property="og:title" content="Kestrel buys">'
        '<script type="application/ld+json">{"@graph": [{"@type": "ItemList", "itemListElement": [{"@type": "NewsArticle",'
        '"headline": "Other", "isAccessibleForFree": false}]}, {"@type": ["NewsArticle"], "headline": "Kestrel buys"}]}'
        "</script></head><body><h1>Kestrel <b>buys</b> more</h1></body>"
    )
    article = extract(page)
    assert article.titles == ("Kestrel buys & holds | Site", "Kestrel buys", "Kestrel buys more")
    assert not article.is_paywalled


@pytest.mark.parametrize(
    "mark",
    [
        '<meta property="article:content_tier" content="locked">',
        '<meta itemprop="isAccessibleForFree" content="False">',
        '<script type="application/ld+json">[{"@type": "BlogPosting", "isAccessibleForFree": "no"}]</script>',
    ],
)
def test_page_for_subscribers(mark: str):
    """A page says in several ways that it is not free."""
    assert extract(f"<head>{mark}</head><p>Text.</p>").is_paywalled
    assert not extract("<p>Text.</p>").is_paywalled


def test_part_for_subscribers_is_left_out():
    """The element that the page names as hidden is no part of the free text, nor is its copy for search engines."""
    free, hidden = (
        "<p>" + f"{word} sentence that is long enough to be prose, with a figure of 12. " * 4 + "</p>"
        for word in ("Free", "Paid")
    )
    part = '{"@type": "WebPageElement", "isAccessibleForFree": false, "cssSelector": ".paid"}'
    script = f'{{"@type": "NewsArticle", "isAccessibleForFree": false, "hasPart": {part}, "articleBody": "{"Paid words. " * 99}"}}'
    page = f'<script type="application/ld+json">{script}</script><article>{free}<div class="x paid">{hidden * 3}</div></article>'
    article = extract(page)
    assert "Free sentence" in article.free_text
    assert "Paid" not in article.free_text
    assert "Paid" in article.text
