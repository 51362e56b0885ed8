"""What a request to the compiler must look like, written down a second time and without the product's own code."""

import json
from collections.abc import Callable
from typing import Any

MAX_DEPTH = 64
TRANSFORMATIONS = {
    "Compress",
    "ConvertToAscii",
    "Deduplicate",
    "InsertFinalNewLine",
    "InvertAllow",
    "Optimise",
    "RemoveComments",
    "RemoveEmptyLines",
    "RemoveModifiers",
    "TrimLines",
    "Validate",
    "ValidateAllowIp",
    "ValidateAllowIpAndPublicSuffix",
    "ValidateAllowPublicSuffix",
}
FILTERS = {"transformations", "exclusions", "exclusions_sources", "inclusions", "inclusions_sources"}


class Bad(Exception):
    """The request must not be accepted."""


def need(holds: object, why: str) -> None:
    if not holds:
        raise Bad(why)


def acceptable(
    check: Callable[[Any], None], content: bytes, content_type: str | None, *, optional: bool = False
) -> bool:
    """Return whether an endpoint with this check may accept this body."""
    if optional and not content.strip():
        return True
    try:
        need(content_type is None or _is_json_type(content_type), "content type")
        value = parsed(content)
        _numbers(value)
        check(value)
    except Bad:
        return False
    return True


def parsed(content: bytes) -> Any:
    """JSON that can be read in one way only."""

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len({name for name, _ in found}) == len(found), "a key twice")
        return dict(found)

    def constant(name: str) -> None:
        raise Bad(name)

    try:
        need(_depth(content) <= MAX_DEPTH, "depth")
        value = json.loads(content.decode("utf-8-sig"), object_pairs_hook=pairs, parse_constant=constant)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise Bad(str(error)) from None
    return value


def compile_body(value: Any) -> None:
    _object(value, {"configuration"}, {"preFetchedContent", "benchmark", "priority", "turnstileToken", "report"})
    configuration(value["configuration"])
    _job(value)
    need(isinstance(value.get("report", False), bool), "report")


def batch_body(most: int) -> Callable[[Any], None]:
    def check(value: Any) -> None:
        _object(value, {"requests"}, {"priority", "turnstileToken"})
        items = value["requests"]
        need(isinstance(items, list) and 1 <= len(items) <= most, "requests")
        for item in items:
            _object(item, {"id", "configuration"}, {"preFetchedContent", "benchmark"})
            _text(item["id"], 1, 128)
            need(isinstance(item["configuration"], dict), "configuration")
            _job(item)
        need(len({item["id"] for item in items}) == len(items), "an id twice")

    return check


def warm_body(value: Any) -> None:
    _object(value, set(), {"configurations", "turnstileToken"})
    given = value.get("configurations")
    if given is not None:
        need(isinstance(given, list) and given, "configurations")
        for one in given:
            configuration(one)


def health_body(value: Any) -> None:
    _object(value, set(), {"sources", "alertOnFailure", "turnstileToken"})
    need(isinstance(value.get("alertOnFailure", True), bool), "alertOnFailure")
    given = value.get("sources")
    if given is None:
        return
    need(isinstance(given, list) and given, "sources")
    for source in given:
        _object(source, {"name", "url"}, {"expectedMinRules"})
        _text(source["name"], 1, 128)
        _text(source["url"], 8, 4096)
        need(source["url"].startswith(("http://", "https://")), "url")
        least = source.get("expectedMinRules", 100)
        need(isinstance(least, int) and not isinstance(least, bool) and 0 <= least <= 10**8, "least")
    for name in ("name", "url"):
        need(len({source[name] for source in given}) == len(given), f"a {name} twice")


def configuration(value: Any) -> None:
    _object(value, {"name", "sources"}, {"description", "homepage", "license", "version"} | FILTERS)
    _text(value["name"], 1, 256)
    for name in ("description", "homepage", "license", "version"):
        _text(value.get(name, ""), 0, 4096)
    _filters(value)
    sources = value["sources"]
    need(isinstance(sources, list) and 1 <= len(sources) <= 100, "sources")
    for source in sources:
        _object(source, {"source"}, {"name", "type"} | FILTERS)
        _text(source["source"], 1, 4096)
        if "name" in source:
            _text(source["name"], 1, 256)
        need(source.get("type", "hosts") in ("adblock", "hosts"), "type")
        _filters(source)
        need(not (_validators(value) and _validators(source)), "validators on both levels")


def socket_message(text: str) -> str | None:
    """Return the type of a message that can be followed, else None."""
    try:
        value = parsed(text.encode("utf-8", "replace"))
        need(isinstance(value, dict) and isinstance(value.get("type"), str), "type")
        kind: str = value["type"]
        more = {"configuration", "preFetchedContent", "benchmark", "turnstileToken"} if kind == "compile" else set()
        need(kind in {"ping", "compile", "cancel", "pause", "resume"}, "type")
        needed = {"type"} | ({"sessionId"} if kind != "ping" else set()) | (more & {"configuration"})
        _object(value, needed, {"timestamp"} | more)
        if kind != "ping":
            _text(value["sessionId"], 1, 128)
        if kind == "compile":
            need(isinstance(value["configuration"], dict), "configuration")
            _job(value)
    except Bad:
        return None
    return kind


def _numbers(value: Any) -> None:
    """JavaScript holds no larger whole ones."""
    if isinstance(value, int):
        need(abs(value) < 2**53 - 1, "number")
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _numbers(member)


def _job(value: dict[str, Any]) -> None:
    content = value.get("preFetchedContent", {})
    need(isinstance(content, dict) and len(content) <= 100, "preFetchedContent")
    for key, text in content.items():
        _text(key, 1, 4096)
        need(isinstance(text, str), "preFetchedContent")
    need(isinstance(value.get("benchmark", False), bool), "benchmark")


def _filters(value: dict[str, Any]) -> None:
    for name in FILTERS:
        given = value.get(name, [])
        need(isinstance(given, list) and all(isinstance(item, str) for item in given), name)
        # Of the regular expressions sent, one is none, and one can take for ever.
        need(not {"/(/", "/(a+)+$/"}.intersection(given), name)
        if name.endswith("_sources"):
            need(all(1 <= len(item) <= 4096 for item in given), name)
    need(set(value.get("transformations", [])) <= TRANSFORMATIONS, "transformations")
    need(len(set(_validators(value))) <= 1, "two validators")


def _validators(value: dict[str, Any]) -> list[str]:
    return [name for name in value.get("transformations", []) if isinstance(name, str) and name.startswith("Validate")]


def _object(value: Any, needed: set[str], optional: set[str]) -> None:
    need(isinstance(value, dict), "not an object")
    need(needed <= set(value), "a member is missing")
    need(set(value) <= needed | optional, "a member is not known")


def _text(value: Any, least: int, most: int) -> None:
    need(isinstance(value, str) and least <= len(value) <= most, "not such a text")


def _is_json_type(content_type: str) -> bool:
    sent = content_type.partition(";")[0].strip().lower()
    return not sent or sent in {"application/json", "text/json"} or sent.endswith("+json")


def _depth(content: bytes) -> int:
    """Never less than the nesting: brackets inside of texts are left out only where that is easily seen."""
    deepest = depth = 0
    inside = escaped = False
    for byte in content:
        if inside:
            inside = escaped or byte != 0x22
            escaped = not escaped and byte == 0x5C
        elif byte == 0x22:
            inside = True
        elif byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest
