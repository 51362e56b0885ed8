"""A stand-in of Cloudflare's API on loopback, for the real wrangler: one account, with what a deployment asks and changes.

It keeps versions and deployments as Cloudflare does: an upload makes a version, a deployment gives versions their shares of
the traffic. What it cannot show is whether Cloudflare itself would take an upload.
"""

import contextlib
import http.server
import json
import re
import sqlite3
import threading
import urllib.parse
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

ACCOUNT: Final = "0123456789abcdef0123456789abcdef"
NO_SUCH_WORKER: Final = (10007, "This Worker does not exist on your account.")
Reply = Any


class Refused(Exception):
    """The API answers with an error."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass
class Worker:
    """A Worker as the account has it; the newest deployment comes first, as Cloudflare lists them."""

    versions: dict[str, dict[str, Any]] = field(default_factory=dict)
    deployments: list[dict[str, Any]] = field(default_factory=list)
    migration_tag: str | None = None

    def add_version(self, metadata: dict[str, Any]) -> str:
        version = str(uuid.uuid4())
        self.versions[version] = metadata
        return version

    def deploy(self, shares: dict[str, float], body: dict[str, Any], when: str, author: str) -> dict[str, Any]:
        deployment = {
            "id": str(uuid.uuid4()),
            "source": "wrangler",
            "strategy": "percentage",
            "author_email": author,
            "created_on": when,
            "annotations": body.get("annotations", {}),
            "versions": [{"version_id": version, "percentage": share} for version, share in shares.items()],
            "code_update_strategy": body.get("code_update_strategy"),
        }
        self.deployments.insert(0, deployment)
        return deployment

    @property
    def shares(self) -> dict[str, float]:
        """What runs now."""
        newest = self.deployments[0] if self.deployments else {"versions": []}
        return {entry["version_id"]: entry["percentage"] for entry in newest["versions"]}


class Account:
    """The state, and the ways in which a test disturbs it."""

    def __init__(self) -> None:
        self.workers: dict[str, Worker] = {}
        self.calls: list[str] = []  # METHOD PATH
        self.refused: set[str] = set()  # Workers whose uploads fail
        self.gates: dict[str, threading.Event] = {}  # METHOD PATH that is not answered before the event
        self.rows = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self.rows.row_factory = sqlite3.Row
        self._moments = 0

    def next_moment(self) -> str:
        self._moments += 1
        return f"2026-11-18T10:{self._moments // 60:02}:{self._moments % 60:02}.000000Z"

    def change_by_hand(self, name: str, shares: dict[str, float] | None = None) -> dict[str, float]:
        """Deploy a Worker as somebody else would: a new version, or these."""
        worker = self.workers.setdefault(name, Worker())
        worker.deploy(shares or {worker.add_version({}): 100}, {}, self.next_moment(), "somebody@example.com")
        return worker.shares

    def list_uploads(self) -> list[str]:
        """Return the names of the uploaded Workers in their order."""
        uploads = (re.search(r"^(?:PUT|POST) .*/scripts/([\w-]+)(?:/versions)?$", call) for call in self.calls)
        return [found[1] for found in uploads if found]

    def answer(self, method: str, path: str, query: dict[str, str], body: bytes) -> Reply:
        self.calls.append(f"{method} {path}")
        if gate := self.gates.get(f"{method} {path}"):
            gate.wait()
        path = path.removeprefix(f"/accounts/{ACCOUNT}")
        for pattern, handle in ROUTES:
            if found := re.fullmatch(pattern, f"{method} {path}"):
                return handle(self, *found.groups(), query=query, body=body)
        raise Refused(404, 7003, f"nothing is known of {method} {path}")

    def find(self, name: str) -> Worker:
        if name not in self.workers:
            raise Refused(404, *NO_SUCH_WORKER)
        return self.workers[name]


def read_metadata(body: bytes) -> dict[str, Any]:
    """Return the JSON part of an upload."""
    found = re.search(rb'name="metadata"\r\n(?:[^\r\n]+\r\n)*\r\n(.*?)\r\n--', body, re.DOTALL)
    assert found
    metadata: dict[str, Any] = json.loads(found[1])
    return metadata


def show_version(worker: Worker, version: str) -> Reply:
    metadata = worker.versions[version]
    return {
        "id": version,
        "number": list(worker.versions).index(version) + 1,
        "metadata": {
            "created_on": "2026-11-18T10:00:00.000000Z",
            "author_email": "me@example.com",
            "source": "wrangler",
        },
        "annotations": metadata.get("annotations", {}),
        "resources": {"script": {"etag": "e", "handlers": ["fetch"]}, "script_runtime": {}, "bindings": []},
        "startup_time_ms": 400,
    }


def put_script(account: Account, name: str, *, body: bytes, **_: Any) -> Reply:
    """Return the upload of a Worker that is new, or whose classes change: a version that runs at once."""
    if name in account.refused:
        raise Refused(400, 10021, "Script startup exceeded CPU time limit.")
    metadata = read_metadata(body)
    worker = account.workers.setdefault(name, Worker())
    version = worker.add_version(metadata)
    worker.migration_tag = metadata.get("migrations", {}).get("new_tag", worker.migration_tag)
    worker.deploy({version: 100}, metadata, account.next_moment(), "me@example.com")
    return {"id": name, "etag": "e", "deployment_id": version.replace("-", ""), "startup_time_ms": 400}


def post_version(account: Account, name: str, *, body: bytes, **_: Any) -> Reply:
    if name in account.refused:
        raise Refused(400, 10021, "Script startup exceeded CPU time limit.")
    worker = account.find(name)
    return show_version(worker, worker.add_version(read_metadata(body)))


def post_deployment(account: Account, name: str, *, body: bytes, **_: Any) -> Reply:
    wanted = json.loads(body)
    worker = account.find(name)
    shares = {entry["version_id"]: entry["percentage"] for entry in wanted["versions"]}
    assert shares.keys() <= worker.versions.keys()
    return worker.deploy(shares, wanted, account.next_moment(), "me@example.com")


def get_deployments(account: Account, name: str, **_: Any) -> Reply:
    return {"deployments": account.find(name).deployments}


def get_version(account: Account, name: str, version: str, **_: Any) -> Reply:
    return show_version(account.find(name), version)


def list_versions(account: Account, name: str, **_: Any) -> Reply:
    worker = account.find(name)
    return {"items": [show_version(worker, version) for version in reversed(worker.versions)]}


def get_service(account: Account, name: str, **_: Any) -> Reply:
    worker = account.find(name)
    script: dict[str, Any] = {
        "id": name,
        "migration_tag": worker.migration_tag,
        "tag": name,
        "tags": [],
        "last_deployed_from": "wrangler",
    }
    return {"id": name, "default_environment": {"environment": "production", "script": script}}


def list_scripts(account: Account, **_: Any) -> Reply:
    return [{"id": name, "migration_tag": worker.migration_tag} for name, worker in account.workers.items()]


def query_database(account: Account, _id: str, *, body: bytes, **_: Any) -> Reply:
    wanted = json.loads(body)
    results = []
    for statement in filter(None, map(str.strip, wanted["sql"].split(";"))):
        rows = account.rows.execute(statement, wanted.get("params") or []).fetchall()
        results.append({"success": True, "results": [dict(row) for row in rows], "meta": {"duration": 1}})
    return results


def fix(value: Reply) -> Callable[..., Reply]:
    return lambda *_path, **_request: value


def find_queue(_account: Account, *, query: dict[str, str], **_: Any) -> Reply:
    name = query["name"]
    return [{"queue_id": name.encode().hex(), "queue_name": name, "producers": [], "consumers": []}]


def refuse_workflow(_account: Account, name: str, **_: Any) -> Reply:
    raise Refused(404, 10200, f"workflow {name} not found")


ROUTES: Final[list[tuple[str, Callable[..., Reply]]]] = [
    (r"GET /user/tokens/verify", fix({"id": "t", "status": "active"})),
    (r"GET /user", fix({"id": "u", "email": "me@example.com"})),
    (r"GET /accounts", fix([{"id": ACCOUNT, "name": "mine"}])),
    (r"GET /memberships", fix([{"id": "m", "account": {"id": ACCOUNT, "name": "mine"}}])),
    (r"GET /workers/services/([\w-]+)", get_service),
    (r"GET /workers/scripts", list_scripts),
    (r"GET /workers/scripts/([\w-]+)/deployments", get_deployments),
    (r"POST /workers/scripts/([\w-]+)/deployments", post_deployment),
    (r"GET /workers/scripts/([\w-]+)/versions", list_versions),
    (r"POST /workers/scripts/([\w-]+)/versions", post_version),
    (r"GET /workers/scripts/([\w-]+)/versions/([\w-]+)", get_version),
    (r"PUT /workers/scripts/([\w-]+)", put_script),
    (r"PATCH /workers/scripts/([\w-]+)/script-settings", fix({})),
    (r"(?:GET|PATCH) /workers/scripts/([\w-]+)/settings", fix({"bindings": []})),
    (r"GET /workers/scripts/([\w-]+)/secrets", fix([])),
    (r"(?:GET|POST) /workers/scripts/([\w-]+)/subdomain", fix({"enabled": False, "previews_enabled": False})),
    (r"GET /workers/subdomain", fix({"subdomain": "mine"})),
    (r"PUT /workers/scripts/([\w-]+)/schedules", fix({"schedules": []})),
    (r"GET /workers/workers/([\w-]+)", fix({"id": "w", "subdomain": {"enabled": False}})),
    (r"POST /workers/scripts/([\w-]+)/assets-upload-session", fix({"jwt": "j", "buckets": []})),
    (r"GET /r2/buckets/([\w-]+)", fix({"name": "a-bucket"})),
    (r"GET /queues", find_queue),
    (r"GET /queues/(\w+)/consumers", fix([])),
    (r"POST /queues/(\w+)/consumers", fix({})),
    (r"GET /workflows/([\w-]+)", refuse_workflow),
    (r"PUT /workflows/([\w-]+)", fix({"id": "w", "name": "a-workflow"})),
    (r"POST /d1/database/([\w-]+)/query", query_database),
]


class Handler(http.server.BaseHTTPRequestHandler):
    account: Account

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # wrangler may have been ended meanwhile
            super().handle()

    def answer(self) -> None:
        address = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(address.query))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            status, errors, result = 200, [], self.account.answer(self.command, address.path, query, body)
        except Refused as refused:
            status, errors, result = refused.status, [{"code": refused.code, "message": str(refused)}], None
        info = {"page": 1, "per_page": 50, "count": 1, "total_count": 1, "total_pages": 1}
        reply = {"success": not errors, "errors": errors, "messages": [], "result": result, "result_info": info}
        content = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - these are the names that http.server calls

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serve(account: Account) -> Iterator[str]:
    """Serve the account and yield the address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"account": account}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        for gate in account.gates.values():
            gate.set()
        server.shutdown()
        server.server_close()
        thread.join()
        account.rows.close()
