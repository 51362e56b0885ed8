"""The smoke test: asks running Workers for what they are for, and prints one line for each check."""

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from commands import DeployError, print_line

TIMEOUT_S: Final = 60.0
PAUSE_S: Final = 2.0
CHECKED_ZONES: Final = 20  # each costs its origin one request
LOCAL_HOSTS: Final = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    content_type: str
    text: str

    def json(self) -> Any:
        return json.loads(self.text)


Judge = Callable[[Reply], bool]


@dataclass(frozen=True, slots=True)
class Check:
    """One request, and what its reply must be."""

    what: str
    method: str
    path: str
    is_good: Judge
    body: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Target:
    """A running Worker: `url` is connected to, `host` is asked for."""

    worker: str
    url: str
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, worker: str, address: str) -> "Target":
        """Return the host to connect to: a name below `localhost` is this machine, also where the resolver does not know that."""
        parts = urlsplit(address)
        if not (parts.hostname or "").endswith(".localhost"):
            return cls(worker, address.rstrip("/"))
        port = f":{parts.port}" if parts.port else ""
        return cls(worker, f"{parts.scheme}://127.0.0.1{port}", {"Host": parts.netloc})


def _is_page(reply: Reply) -> bool:
    return reply.status == 200 and reply.content_type.startswith("text/html")


def _is_document(reply: Reply) -> bool:
    return reply.status == 200 and reply.json()["openapi"].startswith("3.") and bool(reply.json()["paths"])


def _is_refused(reply: Reply) -> bool:
    return reply.status in {401, 403}


def _is_compiled(reply: Reply) -> bool:
    """Return whether the list was compiled; with Turnstile only a person may, so that a refusal which asks for a token is good as well."""
    if reply.status == 403:
        return "turnstileToken" in reply.json()["detail"]
    rules = [rule for rule in reply.json()["rules"] if not rule.startswith("!")]
    return reply.status == 200 and sorted(rules) == ["||ads.example.com^", "||tracker.example.com^"]


def _has_articles(reply: Reply) -> bool:
    """Return whether the reply has articles, or says that there are none yet: the first crons must run before there are any."""
    if reply.status == 503:
        return bool(reply.json()["title"] == "No news yet")
    return reply.status == 200 and isinstance(reply.json()["articles"], list)


_COMPILATION: Final = {
    "configuration": {
        "name": "Smoke test",
        "sources": [{"source": "smoke.txt"}],
        "transformations": ["RemoveComments", "Deduplicate"],
    },
    "preFetchedContent": {"smoke.txt": "! a comment\n||ads.example.com^\n||tracker.example.com^\n||ads.example.com^\n"},
}
_RUN: Final = Check("a run without the token is refused", "POST", "/run", _is_refused)

EVERY_WORKER: Final = (
    Check("API document", "GET", "/openapi.json", _is_document),
    Check("API page", "GET", "/docs", _is_page),
)
CHECKS: Final[dict[str, tuple[Check, ...]]] = {
    "adblock-compiler": (
        Check("page", "GET", "/", _is_page),
        Check("compiles a list", "POST", "/compile", _is_compiled, _COMPILATION),
    ),
    "edge-preload": (
        Check("page", "GET", "/", _is_page),
        Check("an unsigned request is refused", "POST", "/api/v1/preload", _is_refused, {}),
    ),
    "sluice-tail": (Check("logs without the token are refused", "GET", "/logs", _is_refused),),
    "worker-api": (
        Check("page", "GET", "/", _is_page),
        Check("articles, or none yet", "GET", "/api/v1/articles", _has_articles),
    ),
    "worker-news-processor": (_RUN,),
    "worker-news-updater": (_RUN,),
}


def check_address(address: str) -> None:
    """Raise DeployError unless the address is that of a server."""
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise DeployError(f"--check takes an address such as https://worker-api.example.workers.dev, not {address}")


def is_local(address: str) -> bool:
    """Return whether the address is a local runtime, which serves every Worker at a host name of its own."""
    return urlsplit(address).hostname in LOCAL_HOSTS


def list_local_targets(address: str, workers: list[str]) -> list[Target]:
    """Return the Workers of ./scripts/run."""
    parts = urlsplit(address)
    port = f":{parts.port}" if parts.port else ""
    return [Target.at(worker, f"{parts.scheme}://{worker}.localhost{port}") for worker in workers]


def check_targets(targets: list[Target], *, patience_s: float = 0.0) -> int:
    """Run all checks; return the number of failures. A new address may take a while to answer: `patience_s`."""
    end = time.monotonic() + patience_s
    failed = 0
    for target in targets:
        for line, problem in _check_worker(target, end):
            failed += bool(problem)
            print_line(f"FAILED  {line}: {problem}" if problem else f"ok      {line}")
    return failed


def _check_worker(target: Target, end: float) -> Iterator[tuple[str, str]]:
    """Yield a line and its problem, "" if there is none, for each check; a Worker that is not well is asked nothing more."""
    health = Check("every binding answers", "GET", "/health", lambda reply: _is_healthy(reply, target.worker))
    problem = _try_until(target, health, end)
    name = target.worker or ("" if problem else str(_ask(target, health).json()["name"]))
    yield f"{name or target.url:24}GET /health ({health.what})", problem
    if problem:
        return
    for check in (*EVERY_WORKER, *CHECKS.get(name, ())):
        yield f"{name:24}{check.method} {check.path} ({check.what})", _try_until(target, check, end)
    if name == "edge-preload":
        yield from _check_zones(target, os.environ.get("ADMIN_TOKEN", ""))


def _check_zones(target: Target, token: str) -> Iterator[tuple[str, str]]:
    """Have each zone send one request as it warms pages: on a route it may come back instead of reaching the origin."""
    if not token:
        print_line("note    edge-preload            with ADMIN_TOKEN set, the warming of each zone is tried as well")
        return
    operator = {"Authorization": f"Bearer {token}"}
    listing = Check("its zones", "GET", "/api/v1/zones", lambda reply: reply.status == 200, headers=operator)
    problem = find_problem(target, listing)
    if problem:
        yield f"{'edge-preload':24}GET {listing.path} ({listing.what})", problem
        return
    for zone in _ask(target, listing).json()["zones"][:CHECKED_ZONES]:
        path = f"/api/v1/zones/{zone}/origin/check"
        begin = Check("warming reaches the origin", "POST", path, lambda reply: reply.status == 202, headers=operator)
        yield (
            f"{'edge-preload':24}POST {path} ({begin.what})",
            find_problem(target, begin)
            or _wait_for_origin(
                target, Check("the result", "GET", f"/api/v1/zones/{zone}/status", _has_result, headers=operator)
            ),
        )


def _has_result(reply: Reply) -> bool:
    return reply.status == 200 and reply.json()["origin_check"]["state"] != "pending"


def _wait_for_origin(target: Target, result: Check) -> str:
    if problem := _try_until(target, result, time.monotonic() + 2 * TIMEOUT_S):
        return problem
    check = _ask(target, result).json()["origin_check"]
    return "" if check["state"] == "reached" else str(check["detail"])


def _is_healthy(reply: Reply, worker: str) -> bool:
    health = reply.json()
    return reply.status == 200 and health["status"] == "ok" and worker in {"", health["name"]}


def _try_until(target: Target, check: Check, end: float) -> str:
    while (problem := find_problem(target, check)) and time.monotonic() < end:
        time.sleep(PAUSE_S)
    return problem


def find_problem(target: Target, check: Check) -> str:
    """Return "" if the reply is as expected, else what came instead."""
    try:
        reply = _ask(target, check)
    except (OSError, HTTPException) as error:
        return f"no answer ({error or type(error).__name__})"
    try:
        good = check.is_good(reply)
    except (ValueError, KeyError, TypeError, AttributeError):  # not the document that it should be
        good = False
    return "" if good else f"answered {reply.status} {reply.text[:200]!r}"


def _ask(target: Target, check: Check) -> Reply:
    body = None if check.body is None else json.dumps(check.body).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "sluice-smoke-test"} | target.headers | check.headers
    request = Request(target.url + check.path, data=body, headers=headers, method=check.method)  # noqa: S310
    try:
        with urlopen(request, timeout=TIMEOUT_S) as response:  # noqa: S310
            return _read_reply(response)
    except HTTPError as error:
        with error:
            return _read_reply(error)


def _read_reply(response: Any) -> Reply:
    text = response.read().decode(errors="replace")
    return Reply(response.status, response.headers.get("content-type", ""), text)
