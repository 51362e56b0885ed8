"""Published lists over HTTP: what everybody may read, and what the operator may change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from sluice.core.compiler.published.definition import ListDefinition, parse_definition
from sluice.core.errors import BadField, ConfigError, Invalid, NotFound
from sluice.core.filters.syntax.hostnames import find_name
from sluice.core.json_text import JsonObject
from sluice.core.models import parse_model
from sluice.core.timestamps import iso
from sluice.services.compiler.guard.idempotency import OPERATOR, IdempotencyKeys, Ticket
from sluice.services.compiler.http.list_addresses import build_unbuilt_reply
from sluice.services.compiler.http.list_facts import (
    BuildAccepted,
    PublishedListFacts,
    PublishedLists,
    VersionFacts,
    Versions,
    add_history,
    describe_briefly,
    describe_formats,
    describe_unstored,
)
from sluice.services.compiler.http.list_operations import (
    COMPARE_VERSIONS,
    DELETE_LIST,
    DOMAIN,
    DRY_RUN,
    EXPLAIN,
    FROM,
    LIST_LISTS,
    LIST_VERSIONS,
    NAME,
    PUT_LIST,
    REBUILD_LIST,
    ROLL_BACK_LIST,
    SHOW_LIST,
    SHOW_OVERLAP,
    TO,
    RollbackRequest,
)
from sluice.services.compiler.published.builds.build_queue import BuildQueue
from sluice.services.compiler.published.builds.build_steps import list_formats
from sluice.services.compiler.published.builds.build_workflow import describe_build
from sluice.services.compiler.published.keys import EXTENSION
from sluice.services.compiler.published.list_store import ListStore
from sluice.services.compiler.published.operator import ListOperator
from sluice.services.compiler.published.previews import Previews
from sluice.services.compiler.published.queries import ListQueries
from sluice.web import Reply, Request, read_json
from sluice.web.admin import OperatorGate
from sluice.web.operations import describe

MAX_BODY_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ListsApi:
    lists: ListStore
    builds: BuildQueue
    operator: ListOperator
    previews: Previews
    queries: ListQueries
    keys: IdempotencyKeys
    operators: OperatorGate
    public_url: str

    @describe(LIST_LISTS)
    async def show_all(self, request: Request) -> Reply:
        stored = {known.name: known for known in await self.lists.load_all()}
        declared = self._load_declared()
        origin = self._find_origin(request)
        rows = [describe_briefly(known, origin) for known in stored.values()]
        rows += [describe_unstored(name, declared[name], origin) for name in declared if name not in stored]
        return Reply.json(PublishedLists(lists=sorted(rows, key=lambda row: row["name"])))

    @describe(SHOW_LIST)
    async def show(self, request: Request) -> Reply:
        name = NAME.read(request)
        known = await self.lists.find(name)
        if known is None:
            return Reply.json(self._describe_declared(request, name))
        last = await self.builds.find_last(name)
        counts = await self.lists.load_counts(name)
        origin = self._find_origin(request)
        facts: PublishedListFacts = {
            **describe_briefly(known, origin),
            "reason": known.reason,
            "schedule": known.definition.schedule,
            "minRules": known.definition.min_rules,
            "maxShrink": known.definition.max_shrink,
            "sources": [add_history(source, counts) for source in known.sources],
            "formats": describe_formats(known, origin),
            "lastBuild": describe_build(last),
        }
        return Reply.json(facts)

    def show_missing(self, request: Request, name: str, extension: str) -> Reply:
        """Return 503 for an address that a declared list will have; raise NotFound for any other."""
        declared = self._load_declared().get(name)
        formats = list_formats(parse_definition(declared)) if declared else []
        if extension in formats or (formats and extension == EXTENSION):
            return build_unbuilt_reply(request)
        raise NotFound(f"no list is published at {request.path}: GET /lists shows those that are")

    def _describe_declared(self, request: Request, name: str) -> PublishedListFacts:
        """Return the facts of a declared list that no cron has seen yet; raise NotFound if there is none."""
        declared = self._load_declared().get(name)
        if declared is None:
            raise NotFound(f"there is no list {name}")
        parsed = parse_definition(declared)
        return {
            **describe_unstored(name, declared, self._find_origin(request)),
            "reason": "it is declared and not built yet: the next hour builds it, or the operator by a rebuild",
            "schedule": parsed.schedule,
            "minRules": parsed.min_rules,
            "maxShrink": parsed.max_shrink,
            "sources": [],
            "formats": [],
            "lastBuild": None,
        }

    @describe(PUT_LIST)
    async def put(self, request: Request) -> Reply:
        await self.operators.admit(request)
        name = NAME.read(request)
        is_preview = PUT_LIST.read(request)[DRY_RUN]
        body = await read_json(request, max_bytes=MAX_BODY_BYTES)
        definition: ListDefinition = parse_definition(body)
        if is_preview:
            return Reply.json(await self.previews.preview(name, definition))
        self.operator.check_not_declared(name)
        await self.previews.check_size(name, definition)

        async def put(ticket: Ticket) -> Reply:
            is_new, build_id = await self.operator.put(name, body, self._find_origin(request), ticket)
            return self._build_accepted(request, name, build_id, 201 if is_new else 202)

        return await self.keys.run_once(request, body, put, caller=OPERATOR)

    @describe(DELETE_LIST)
    async def delete(self, request: Request) -> Reply:
        await self.operators.admit(request)
        await self.operator.delete(NAME.read(request))
        return Reply.empty()

    @describe(REBUILD_LIST)
    async def rebuild(self, request: Request) -> Reply:
        await self.operators.admit(request)
        name = NAME.read(request)

        async def rebuild(ticket: Ticket) -> Reply:
            return self._build_accepted(request, name, await self.operator.rebuild(name, ticket), 202)

        return await self.keys.run_once(request, None, rebuild, caller=OPERATOR)

    @describe(ROLL_BACK_LIST)
    async def roll_back(self, request: Request) -> Reply:
        await self.operators.admit(request)
        name = NAME.read(request)
        body = await read_json(request, max_bytes=MAX_BODY_BYTES)
        wanted = parse_model(RollbackRequest, body).version

        async def roll_back(ticket: Ticket) -> Reply:
            return self._build_accepted(request, name, await self.operator.roll_back(name, wanted, ticket), 202)

        return await self.keys.run_once(request, body, roll_back, caller=OPERATOR)

    @describe(LIST_VERSIONS)
    async def show_versions(self, request: Request) -> Reply:
        name = NAME.read(request)
        await self.lists.load(name)
        versions: list[VersionFacts] = [
            {"version": one.version, "createdAt": iso(one.created_s), "ruleCount": one.rule_count}
            for one in await self.lists.load_versions(name)
        ]
        return Reply.json(Versions(versions=versions))

    @describe(COMPARE_VERSIONS)
    async def show_difference(self, request: Request) -> Reply:
        name = NAME.read(request)
        query = COMPARE_VERSIONS.read(request)
        return Reply.json(await self.queries.compare_versions(name, query[FROM], query[TO]))

    @describe(EXPLAIN)
    async def explain(self, request: Request) -> Reply:
        name = NAME.read(request)
        return Reply.json(await self.queries.explain(name, _find_domain(request)))

    @describe(SHOW_OVERLAP)
    async def show_overlap(self, request: Request) -> Reply:
        return Reply.json(await self.queries.show_overlap(NAME.read(request)))

    def _load_declared(self) -> Mapping[str, JsonObject]:
        """Return the declared lists; none while they are malformed, which /health reports: stored lists are shown anyway."""
        try:
            return self.operator.load_declared()
        except ConfigError:
            return {}

    def _build_accepted(self, request: Request, name: str, build_id: str, status: int) -> Reply:
        url = f"{self._find_origin(request)}/lists/{name}"
        return Reply.json(BuildAccepted(name=name, buildId=build_id, url=url), status, {"Location": url})

    def _find_origin(self, request: Request) -> str:
        parts = urlsplit(request.url)
        return self.public_url.rstrip("/") or f"{parts.scheme}://{parts.netloc}"


def _find_domain(request: Request) -> str:
    """Return the name, as DNS has it."""
    name = find_name(EXPLAIN.read(request)[DOMAIN])
    if name is None:
        raise Invalid.from_fields(
            [BadField("domain", "has no host name: write a name such as ads.example.org, or an address")]
        )
    return name
