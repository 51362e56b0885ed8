"""Reading sources: parallel downloads, order, includes, retries and limits."""

import pytest

from fakes.clock import ManualClock
from sluice.core.compiler.limits import MAX_INCLUDE_DEPTH, MAX_PARALLEL_DOWNLOADS, CompileLimits, ListTooLarge
from sluice.core.compiler.sources.backoff import backoff_s
from sluice.core.compiler.sources.list_check import has_rules
from sluice.core.compiler.sources.source_errors import (
    BadSource,
    SourceFailed,
    SourceMissing,
    find_cause,
    to_plain_error,
)
from sluice.core.errors import Oversized, Refused, SluiceError, TimedOut, TooLarge, Unavailable
from unit.core.compiler.scripted import ScriptedDownload, body, compile_files, compiler, configuration

BASE = "https://h.example"


async def test_order_is_kept():
    """The list has the sources in the order of the configuration, and at most six are downloaded at once."""
    files = {f"{BASE}/{number}.txt": f"||{number}.example^" for number in range(50)}
    download = ScriptedDownload(files)
    result = await compiler(files, download=download).compile(configuration(*files))
    assert body(result) == list(files.values())
    assert download.most_at_once == MAX_PARALLEL_DOWNLOADS


async def test_content_in_the_request():
    """Content in the request replaces a download, for a source and for the files it includes."""
    content = {"mine": "||a^\n!#include more", "more": "||b^"}
    result = await compiler({}).compile(configuration("mine"), content=content)
    assert body(result) == ["||a^", "||b^"]


async def test_includes():
    """An included file replaces its directive; its location is relative to the file that includes it."""
    files = {
        f"{BASE}/l/a.txt": "||a^\n!#include inc/b.txt\n||z^",
        f"{BASE}/l/inc/b.txt": b"\xef\xbb\xbf! b\r\n\r\n!#include ../c.txt\r\n",
        f"{BASE}/l/c.txt": "||c^",
    }
    result = await compiler(files).compile(configuration(f"{BASE}/l/a.txt"))
    assert body(result) == ["||a^", "! b", "||c^", "||z^"]


async def test_a_file_is_downloaded_once():
    """A file that several sources include, or that is listed twice, is downloaded once and used everywhere."""
    files = {"a": "!#include c\n||a^\n!#include c", "b": "!#include c", "c": "||c^"}
    download = ScriptedDownload(files)
    result = await compiler(files, download=download).compile(configuration("a", "b", "b"))
    assert body(result) == ["||c^", "||a^", "||c^", "||c^", "||c^"]
    assert sorted(download.requests) == ["a", "b", "c"]


async def test_an_include_in_a_false_branch():
    """An include in a false branch is not downloaded."""
    result = await compile_files({"a": "!#if false\n!#include nowhere\n!#endif\n||a^"})
    assert body(result) == ["||a^"]


async def test_constants():
    """The constants of the caller are true in conditions, also in those of included files."""
    files = {"a": "!#include b", "b": "!#if ext_sluice\n||yes^\n!#else\n||no^\n!#endif"}
    result = await compiler(files, constants=frozenset({"ext_sluice"})).compile(configuration("a"))
    assert body(result) == ["||yes^"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a": "!#include a"}, "a → a: the includes form a cycle"),
        ({"a": "x\n!#include b", "b": "!#include c", "c": "!#include a"}, "a → b → c → a: the includes form a cycle"),
        ({"a": "x\n\n!#if true"}, "line 3: this !#if has no !#endif"),
        ({"a": "!#include b", "b": "x\r\n\r\n!#endif"}, "a → b: line 3: this !#endif"),
        ({f"{BASE}/a": "x\n!#include https://other.example/b"}, "line 2: it includes https://other.example/b"),
        ({"a": "!#include"}, "line 1: an !#include names no file"),
        ({"a": "!#include b", "b": SourceMissing("not there")}, "a → b: not there"),
    ],
)
async def test_broken_sources(files: dict[str, str], message: str):
    """A source with a bad directive fails the compilation, and the message names the place."""
    with pytest.raises(SourceFailed) as caught:
        await compiler(files).compile(configuration(next(iter(files))))
    assert message in str(caught.value)
    assert not caught.value.retryable


async def test_includes_have_a_depth():
    """Includes may nest ten levels deep, not eleven."""
    files = {str(depth): f"!#include {depth + 1}" for depth in range(MAX_INCLUDE_DEPTH + 1)}
    files[str(MAX_INCLUDE_DEPTH)] = "||deep^"
    assert body(await compiler(files).compile(configuration("0"))) == ["||deep^"]
    files = {"top": "!#include 0", **files}
    with pytest.raises(SourceFailed, match="more than 10 levels deep"):
        await compiler(files).compile(configuration("top"))


async def test_a_failure_names_its_source():
    """The error of a compilation contains the name of the source and the reason, and keeps status and retryability."""
    files = {"a": "||a^", f"{BASE}/b?key=secret": Refused("it is private")}
    source = {"source": f"{BASE}/b?key=secret", "name": "Second"}
    with pytest.raises(SourceFailed, match=r"^Source Second: it is private$") as caught:
        await compiler(files).compile(configuration("a", source))
    assert (caught.value.status, caught.value.retryable) == (400, False)
    with pytest.raises(SourceFailed) as caught:
        await compiler(files).compile(configuration(f"{BASE}/b?key=secret"))
    assert "secret" not in str(caught.value)


async def test_content_in_the_request_is_the_callers_fault():
    """A mistake in content of the request is the caller's fault; one in a download is its host's fault."""
    with pytest.raises(SourceFailed) as caught:
        await compiler({}).compile(configuration("mine"), content={"mine": "!#endif"})
    assert caught.value.status == 400
    with pytest.raises(SourceFailed) as caught:
        await compile_files({"a": "!#endif"})
    assert caught.value.status == BadSource.status == 502


async def test_retries():
    """A temporary failure is retried after 1, 2 and 4 s plus jitter."""
    clock = ManualClock()
    files = {"a": [Unavailable("down"), TimedOut("slow"), Unavailable("down"), "||a^"]}
    result = await compiler(files, clock=clock, draw=lambda: 0.5).compile(configuration("a"))
    assert body(result) == ["||a^"]
    assert clock.slept == [1.15, 2.3, 4.6]


async def test_retries_end():
    """After three retries the compilation fails, and a later compilation may succeed."""
    download = ScriptedDownload({"a": Unavailable("down")})
    with pytest.raises(SourceFailed, match="down") as caught:
        await compiler({}, download=download).compile(configuration("a"))
    assert download.requests == ["a"] * 4
    assert caught.value.retryable


async def test_permanent_failures_are_not_retried():
    """A permanent failure is not retried."""
    download = ScriptedDownload({"a": SourceMissing("gone")})
    with pytest.raises(SourceFailed):
        await compiler({}, download=download).compile(configuration("a"))
    assert download.requests == ["a"]


def test_jitter():
    """Jitter lengthens the wait by up to 30 %."""
    assert [backoff_s(attempt, 0.0) for attempt in range(3)] == [1, 2, 4]
    assert backoff_s(0, 1.0) == pytest.approx(1.3)


@pytest.mark.parametrize(
    ("files", "limits"),
    [
        ({"a": "x" * 101}, CompileLimits(source_bytes=100)),
        ({"a": "." * 60, "b": "." * 60}, CompileLimits(total_bytes=100)),
        ({"a": ".x\n" * 12}, CompileLimits(total_lines=10)),
        ({"a": ".x\n" * 6, "b": ".x\n" * 6}, CompileLimits(total_lines=10)),
        ({"a": "!#include b\n" * 3, "b": ".x\n.x\n.x\n.x"}, CompileLimits(total_lines=10)),
        ({"a": "!#include b\n" * 3, "b": "!#if false\n.x\n!#endif"}, CompileLimits(includes=2)),
    ],
)
async def test_limits(files: dict[str, str], limits: CompileLimits):
    """Bytes, lines and includes are limited, for one source and for all sources together: that is for the caller to mend."""
    with pytest.raises(SluiceError) as caught:
        await compiler(files, limits=limits).compile(configuration(*files))
    assert isinstance(find_cause(caught.value), TooLarge)
    plain = to_plain_error(caught.value)
    assert (type(plain), plain.status, plain.retryable, str(plain)) == (TooLarge, 413, False, str(caught.value))


async def test_limit_of_all_sources_names_none():
    """Which source was the last one depends on the order in which they came, so none is named."""
    files = dict.fromkeys("abc", "." * 60)
    events: list[str] = []
    with pytest.raises(ListTooLarge) as caught:
        await compiler(
            files, limits=CompileLimits(total_bytes=100), emit=lambda event: events.append(event.name)
        ).compile(configuration(*files))
    assert str(caught.value) == "all sources together are larger than 100 bytes: split the list"
    assert "source:error" not in events


async def test_response_over_the_limit():
    """A download that is stopped at the limit of one source is for the caller to mend too, and names the source."""
    files: dict[str, str | Exception] = {"https://a.example/list": Oversized("it sent more than 100 bytes")}
    with pytest.raises(SourceFailed, match=r"https://a\.example/list: it is larger than 100 bytes") as caught:
        await compiler(files, limits=CompileLimits(source_bytes=100)).compile(configuration(*files))
    assert caught.value.status == 413


async def test_content_in_the_request_over_a_limit():
    """It is too large, and not merely invalid."""
    with pytest.raises(SourceFailed) as caught:
        await compiler({}, limits=CompileLimits(source_bytes=100)).compile(
            configuration("mine"), content={"mine": "||a.example^" * 10}
        )
    assert to_plain_error(caught.value).status == 413


@pytest.mark.parametrize(
    "content",
    [
        b"<!DOCTYPE html>\n<title>Sorry</title>",
        b"\xef\xbb\xbf\n <html lang=en>",
        b'<?xml version="1.0"?><rss/>',
        b"||a.com^\n\0\0",
        "||a.com^".encode("utf-16"),
    ],
    ids=["page", "page with a mark", "xml", "zeros", "utf-16"],
)
async def test_web_pages_and_binary_files(content: bytes):
    """A web page or a binary file in place of a list is an error."""
    with pytest.raises(SourceFailed, match=r"web page|binary"):
        await compiler({"a": content}).compile(configuration("a"))


@pytest.mark.parametrize(
    "text",
    [
        "404: Not Found", "Couldn't find the requested file /a.txt in o/r.", "This account has been suspended.", "error",
        '{"message":"Not Found","documentation_url":"https://h.example"}', '{\n  "error": "quota"\n}', "be right back",
        "<p>Just a moment...</p>\n<script>var a = 1;</script>", "! a note\nToo Many Requests",
        "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 123",
        "||a.com^\n<<<<<<< HEAD\n||b.com^\n=======\n||c.com^\n>>>>>>> x", "||a.com^\n>>>>>>> x",
        "PK\3\4\24abc", "<html>", "", "! only\n! comments", "\ufeff",
        "127.0.0.1 localhost\n::1 ip6-localhost\n0.0.0.0 0.0.0.0",
    ],
)  # fmt: skip
async def test_no_list(text: str):
    """A page, a message or nothing in place of a list fails the compilation, and is not retried."""
    files = {f"{BASE}/a.txt": text.encode(), "b": "||b.com^"}
    with pytest.raises(SourceFailed, match=f"{BASE}/a.txt: ") as caught:
        await compiler(files).compile(configuration(f"{BASE}/a.txt", "b"))
    assert not caught.value.retryable


@pytest.mark.parametrize(
    "text",
    [
        "-ad-banner.\n.ad-300x250.\n_adframe.\n&adtype=\n/ads/*", "##.ad > div\na.com#@#.x y", "/ad[s ]x/\n/[a b]/$popup",
        "0.0.0.0 a.com # note\nfe80::1%lo0 b.com", "a.com\nb.com", "[Adblock Plus 2.0]\n||a.com^", "! t\n@@||a.com^\nhello world",
        "*\n", "||a.com^$domain=b.com|c.com",
    ],
)  # fmt: skip
async def test_lists_of_all_kinds(text: str):
    """Rules of every kind are a list, whatever they look like, and all of them are in the result."""
    result = await compiler({f"{BASE}/a.txt": text.encode()}).compile(configuration(f"{BASE}/a.txt"))
    assert body(result) == text.splitlines()


async def test_an_empty_file_beside_others():
    """An empty file beside sources with rules is no failure; a list without any rule is."""
    assert body(await compile_files({"a": "", "b": "||b^"})) == ["", "||b^"]
    with pytest.raises(SourceFailed, match="has no rules"):
        await compile_files({"a": "", "b": "! b"})


async def test_secrets_of_addresses():
    """User, password and query of an address are in no line of the list, no event and no report."""
    location = "https://me:word@h.example/a.txt?token=secret#part"
    seen: list[object] = []
    result = await compiler({location: "! c\n||a.com^"}, emit=seen.append).compile(
        configuration({"source": location, "transformations": ["RemoveComments"]}), detailed=True
    )
    for text in ("\n".join(result.rules), repr(seen), repr(result.report), repr(result.diagnostics)):
        assert "h.example/a.txt" in text
        assert "secret" not in text
        assert "word" not in text


async def test_content_without_rules():
    """Content in the request that has no rules is the caller's mistake, not that of a host."""
    with pytest.raises(SourceFailed, match="has no rules") as caught:
        await compiler({}).compile(configuration("mine"), content={"mine": "! only a comment"})
    assert caught.value.status == 400


HEADINGS = [
    "! comment",
    "# comment",
    "",
    "  ",
    "[Adblock Plus 2.0]",
    "[uBlock Origin] ",
    "127.0.0.1 localhost",
    "::1 localhost",
]
RULES = ["||a.example^", "a.example", "0.0.0.0 a.example", "##.ad", "[$path=/x]##.ad", "/ads[0-9]/", "@@||a.example^"]


@pytest.mark.parametrize("heading", HEADINGS)
def test_headings_are_no_rules(heading: str):
    """A list of nothing else has no rules; one line more is enough."""
    assert not has_rules([heading])
    assert not has_rules(HEADINGS)
    for rule in RULES:
        assert has_rules([heading, rule])
