"""Requests and messages for the compiler: valid ones, nearly valid ones, and such as only an enemy sends."""

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from workerd import oracle

# The origin listens elsewhere each time; examples must not depend on it.
ORIGIN = "http://origin.invalid"

texts = st.text(max_size=20) | st.sampled_from(
    ["", " ", "\x00", "\ud83d\ude00", "x" * 5000, "../..", "__proto__", "%s", "/(/", "/(a+)+$/"]
)
locations = st.sampled_from(
    [f"{ORIGIN}/good"] * 4 + [f"{ORIGIN}/gone", "here", "http://10.0.0.1/x", "ftp://x/", "/etc/passwd"]
)


class Bodies:
    """Bodies for every endpoint; careful ones are valid, others only look like it."""

    def __init__(self, *, careful: bool) -> None:
        def of(*good: str) -> st.SearchStrategy[str]:
            return st.sampled_from(good) if careful else st.sampled_from(good) | texts

        plain = sorted(name for name in oracle.TRANSFORMATIONS if not (careful and name.startswith("Validate")))
        filters = {
            "transformations": st.lists(st.sampled_from(plain), max_size=4),
            "exclusions": st.lists(of("ads", "*.example", "/ads[0-9]+/", "", "/x/i", "é"), max_size=3),
            "exclusions_sources": st.lists(locations, max_size=1),
            "inclusions": st.lists(of("ads", "*"), max_size=2),
        }
        kinds = st.sampled_from(["adblock", "hosts"])
        source = st.fixed_dictionaries({"source": locations}, optional={"name": of("S"), "type": kinds, **filters})
        about = of("", "\x00", "a\n||b^", "x" * 4096)
        self.configurations = st.fixed_dictionaries(
            {
                "name": of("A", "B", "é\n! x", "\u2028", "x" * 256),
                "sources": st.lists(source, min_size=int(careful), max_size=3),
            },
            optional={"description": about, "homepage": about, "license": about, "version": about, **filters},
        )
        contents = st.dictionaries(of("here", "k", f"{ORIGIN}/good"), of("||ads.example^\n0.0.0.0 x.example\n", ""))
        self.jobs = {"preFetchedContent": contents, "benchmark": st.booleans()}
        priorities = st.sampled_from(["standard", "high", "odd", 5])
        self.compile = st.fixed_dictionaries(
            {"configuration": self.configurations},
            optional={"priority": priorities, "report": st.booleans(), **self.jobs},
        )
        item = st.fixed_dictionaries(
            {"id": of("a", "b", "c"), "configuration": self.configurations}, optional=self.jobs
        )
        unique = (lambda item: item["id"]) if careful else None
        items = st.lists(item, min_size=int(careful), max_size=3, unique_by=unique)
        self.batch = st.fixed_dictionaries({"requests": items}, optional={"priority": priorities})
        configurations = st.lists(self.configurations, min_size=int(careful), max_size=2)
        self.warm = st.fixed_dictionaries({}, optional={"configurations": configurations})
        urls = st.sampled_from([f"{ORIGIN}/good", f"{ORIGIN}/gone", "http://10.0.0.1/"]) if careful else locations
        least = st.integers(0, 10) if careful else st.integers(-1, 1) | st.just(2**60)
        watched = st.fixed_dictionaries({"name": of("N"), "url": urls}, optional={"expectedMinRules": least})
        self.health = st.fixed_dictionaries(
            {},
            optional={
                "sources": st.lists(watched, min_size=int(careful), max_size=1 if careful else 2),
                "alertOnFailure": st.booleans(),
            },
        )


CAREFUL, CARELESS = Bodies(careful=True), Bodies(careful=False)

junk = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def mutated(draw: st.DrawFn, valid: st.SearchStrategy[Any]) -> Any:
    """Return a valid body with one thing wrong somewhere in it."""
    whole = {"body": draw(valid)}
    holders = list(_holders(whole))
    holder, key = holders[draw(st.integers(0, len(holders) - 1))]
    match draw(st.sampled_from(["replace", "remove", "add"])), holder[key]:
        case "remove", _ if holder is not whole:
            del holder[key]
        case "add", dict() as members:
            members[draw(texts)] = draw(junk)
        case _:
            holder[key] = draw(junk)
    return whole["body"]


def _holders(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a JSON value that something stands in."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in list(members):
        yield value, key
        yield from _holders(member)


def written(valid: st.SearchStrategy[Any], nearly: st.SearchStrategy[Any]) -> st.SearchStrategy[bytes]:
    """Bodies as they are sent: valid, nearly valid, any JSON, and no JSON at all."""
    values = valid | valid | mutated(valid) | mutated(valid) | nearly | junk
    return values.map(_json) | values.map(_json) | values.map(_json).flatmap(_spoiled) | hostile


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _spoiled(content: bytes) -> st.SearchStrategy[bytes]:
    return st.sampled_from(
        [
            content[:-1],
            content + b"x",
            b"\xef\xbb\xbf" + content,
            content.decode().encode("utf-16"),
            content.replace(b'"name"', b'"name": "twice", "name"', 1),
            content.replace(b'"', b"\xff", 1),
            content.replace(b":", b": NaN, ", 1),
            b" " * 1000 + content + b"\n" * 1000,
        ]
    )


hostile = st.sampled_from(
    [
        b"",
        b" \n",
        b"null",
        b"\x00",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 64 + b"]" * 64,
        b"1" * 10_000,
        b"1e999",
        b'{"configuration":{"name":"\\ud800","sources":[{"source":"here"}]}}',
        b'{"turnstileToken":' * 60 + b"1" + b"}" * 60,
        b'"' + b"x" * 2_000_000 + b'"',
        b"\x1f\x8b\x08\x00",
    ]
) | st.binary(max_size=50)

content_types = st.sampled_from(
    ["application/json"] * 8
    + [None, "text/plain", "application/json; charset=latin-1", "application/ld+json", "multipart/form-data", "/", "é"]
)
odd_headers = st.dictionaries(
    st.sampled_from(
        ["Accept", "Accept-Encoding", "Content-Encoding", "CF-Connecting-IP", "If-None-Match", "Origin", "Range", "X-Y"]
    ),
    st.sampled_from(
        [
            "",
            "*/*",
            "text/plain",
            "text/plain;q=x",
            "gzip;q=0",
            "gzip",
            "::1",
            "1.2.3.4, x",
            "bytes=0-1",
            "é",
            "x" * 4000,
        ]
    ),
    max_size=2,
)


def _messages(bodies: Bodies) -> st.SearchStrategy[Any]:
    of_session = {"sessionId": st.sampled_from("ab")}
    return st.one_of(
        st.fixed_dictionaries({"type": st.just("ping")}, optional={"timestamp": junk}),
        st.fixed_dictionaries(
            {"type": st.just("compile"), "configuration": bodies.configurations, **of_session}, optional=bodies.jobs
        ),
        st.fixed_dictionaries({"type": st.sampled_from(["cancel", "pause", "resume"]), **of_session}),
    )


said = st.lists(
    (_messages(CAREFUL) | _messages(CARELESS) | mutated(_messages(CAREFUL)) | junk).map(json.dumps)
    | hostile.map(lambda body: body.decode("latin-1")),
    max_size=6,
)
