"""Published lists over HTTP: what everybody may read, and what the operator may change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.compiler.published.definition import ListDefinition, parse_definition
from sluice.core.compiler.published.names import check_name
from sluice.core.compiler.sources.locations import remove_secrets
from sluice.core.errors import BadField, ConfigError, Invalid, NotFound
from sluice.core.filters.syntax.hostnames import find_name
from sluice.core.models import parse_model
from sluice.core.timestamps import iso
from sluice.services.compiler.http.list_addresses import build_unbuilt_reply
from sluice.services.compiler.published.builds.build_steps import list_formats
from sluice.services.compiler.published.builds.queue import BuildQueue
from sluice.services.compiler.published.builds.workflow import describe_build
from sluice.services.compiler.published.keys import EXTENSION
from sluice.services.compiler.published.list_store import ListStore, PublishedList
from sluice.services.compiler.published.operator import ListOperator
from sluice.services.compiler.published.previews import Previews, describe_preview
from sluice.services.compiler.published.queries import ListQueries
from sluice.web import QueryReader, Reply, Request, read_json
from sluice.web.admin import require_admin

MAX_BODY_BYTES: Final = 1_000_000
MAX_DOMAIN_CHARS: Final = 2_048
_SHOWN_COUNTS: Final = 30  # of each source


class RollbackRequest(BaseModel):
    """The version whose rules are published again."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    version: Annotated[int, Field(ge=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListsApi:
    lists: ListStore
    builds: BuildQueue
    operator: ListOperator
    previews: Previews
    queries: ListQueries
    admin_token: str
    public_url: str

    async def show_all(self, request: Request) -> Reply:
        stored = {known.name: known for known in await self.lists.load_all()}
        declared = self._load_declared()
        origin = self._find_origin(request)
        rows = [_describe_briefly(known, origin) for known in stored.values()]
        rows += [_describe_unstored(name, declared[name], origin) for name in declared if name not in stored]
        return Reply.json({"lists": sorted(rows, key=lambda row: str(row["name"]))})

    async def show(self, request: Request) -> Reply:
        name = check_name(request.params["name"])
        known = await self.lists.find(name)
        if known is None:
            return Reply.json(self._describe_declared(request, name))
        last = await self.builds.find_last(name)
        counts = await self.lists.load_counts(name)
        origin = self._find_origin(request)
        return Reply.json(
            {
                **_describe_briefly(known, origin),
                "reason": known.reason,
                "schedule": known.definition.schedule,
                "minRules": known.definition.min_rules,
                "maxShrink": known.definition.max_shrink,
                "sources": [_add_history(source, counts) for source in known.sources],
                "formats": _describe_formats(known, origin),
                "lastBuild": describe_build(last),
            }
        )

    def show_missing(self, request: Request, name: str, extension: str) -> Reply:
        """Returns 503 for an address that a declared list will have; raises NotFound for any other."""
        declared = self._load_declared().get(name)
        formats = list_formats(parse_definition(declared)) if declared else []
        if extension in formats or (formats and extension == EXTENSION):
            return build_unbuilt_reply(request)
        raise NotFound(f"no list is published at {request.path}: GET /lists shows those that are")

    def _describe_declared(self, request: Request, name: str) -> dict[str, Any]:
        """Returns the facts of a declared list that no cron has seen yet; raises NotFound if there is none."""
        declared = self._load_declared().get(name)
        if declared is None:
            raise NotFound(f"there is no list {name}")
        parsed = parse_definition(declared)
        return {
            **_describe_unstored(name, declared, self._find_origin(request)),
            "reason": "it is declared and not built yet: the next hour builds it, or the operator by a rebuild",
            "schedule": parsed.schedule,
            "minRules": parsed.min_rules,
            "maxShrink": parsed.max_shrink,
            "sources": [],
            "formats": [],
            "lastBuild": None,
        }

    async def put(self, request: Request) -> Reply:
        require_admin(request, self.admin_token)
        name = check_name(request.params["name"])
        is_preview = read_dry_run(request)
        body = await read_json(request, max_bytes=MAX_BODY_BYTES)
        definition: ListDefinition = parse_definition(body)
        if is_preview:
            return Reply.json(describe_preview(name, await self.previews.preview(name, definition)))
        self.operator.check_not_declared(name)
        await self.previews.check_size(name, definition)
        is_new, build_id = await self.operator.put(name, body, self._find_origin(request))
        return self._build_accepted(request, name, build_id, 201 if is_new else 202)

    async def delete(self, request: Request) -> Reply:
        require_admin(request, self.admin_token)
        await self.operator.delete(check_name(request.params["name"]))
        return Reply.empty()

    async def rebuild(self, request: Request) -> Reply:
        require_admin(request, self.admin_token)
        name = check_name(request.params["name"])
        return self._build_accepted(request, name, await self.operator.rebuild(name), 202)

    async def roll_back(self, request: Request) -> Reply:
        require_admin(request, self.admin_token)
        name = check_name(request.params["name"])
        wanted = parse_model(RollbackRequest, await read_json(request, max_bytes=MAX_BODY_BYTES)).version
        return self._build_accepted(request, name, await self.operator.roll_back(name, wanted), 202)

    async def show_versions(self, request: Request) -> Reply:
        name = check_name(request.params["name"])
        await self.lists.load(name)
        versions = [
            {"version": one.version, "createdAt": iso(one.created_s), "ruleCount": one.rule_count}
            for one in await self.lists.load_versions(name)
        ]
        return Reply.json({"versions": versions})

    async def show_difference(self, request: Request) -> Reply:
        name = check_name(request.params["name"])
        old, new = read_versions(request)
        return Reply.json(await self.queries.compare_versions(name, old, new))

    async def explain(self, request: Request) -> Reply:
        name = check_name(request.params["name"])
        return Reply.json(await self.queries.explain(name, read_domain(request)))

    async def show_overlap(self, request: Request) -> Reply:
        return Reply.json(await self.queries.show_overlap(check_name(request.params["name"])))

    def _load_declared(self) -> Mapping[str, Mapping[str, Any]]:
        """Returns none while the declarations are malformed, which /health reports: stored lists are shown anyway."""
        try:
            return self.operator.load_declared()
        except ConfigError:
            return {}

    def _build_accepted(self, request: Request, name: str, build_id: str, status: int) -> Reply:
        url = f"{self._find_origin(request)}/lists/{name}"
        return Reply.json({"name": name, "buildId": build_id, "url": url}, status, {"Location": url})

    def _find_origin(self, request: Request) -> str:
        parts = urlsplit(request.url)
        return self.public_url.rstrip("/") or f"{parts.scheme}://{parts.netloc}"


def read_dry_run(request: Request) -> bool:
    """Return `?dryRun=`, a switch."""
    query = QueryReader(request)
    is_on = query.flag("dryRun")
    query.check()
    return is_on


def read_versions(request: Request) -> tuple[int, int]:
    """Return `?from=&to=`, two versions."""
    query = QueryReader(request)
    old, new = (query.required_integer(name, minimum=1, maximum=2**31) for name in ("from", "to"))
    query.check()
    return old, new


def read_domain(request: Request) -> str:
    """Return the name in `?domain=`, which may be an address, as DNS has it."""
    query = QueryReader(request)
    text = query.required_text("domain", min_chars=1, max_chars=MAX_DOMAIN_CHARS)
    query.check()
    name = find_name(text)
    if name is None:
        raise Invalid.from_fields(
            [BadField("domain", "has no host name: write a name such as ads.example.org, or an address")]
        )
    return name


def _describe_briefly(known: PublishedList, origin: str) -> dict[str, Any]:
    stamp = known.published.get("stamp")
    return {
        "name": known.name,
        "title": known.definition.configuration.name,
        "description": known.definition.text,
        "version": known.version,
        "updatedAt": iso(stamp[1]) if stamp else None,
        "ruleCount": known.published.get("ruleCount", 0),
        "state": known.state,
        "url": f"{origin}/lists/{known.name}.{EXTENSION}",
    }


def _describe_unstored(name: str, definition: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """Describe a declared list that no cron has seen yet."""
    parsed = parse_definition(definition)
    return {
        "name": name,
        "title": parsed.configuration.name,
        "description": parsed.text,
        "version": 0,
        "updatedAt": None,
        "ruleCount": 0,
        "state": "failed",
        "url": f"{origin}/lists/{name}.{EXTENSION}",
    }


def _describe_formats(known: PublishedList, origin: str) -> list[dict[str, Any]]:
    return [
        {**row, "url": f"{origin}/lists/{known.name}.{EXTENSION if row['format'] == 'adblock' else row['format']}"}
        for row in known.published.get("formats", ())
    ]


def _add_history(source: Mapping[str, Any], counts: Mapping[str, list[tuple[int, int]]]) -> dict[str, Any]:
    """Add how many rules the source had before, the newest first."""
    rows = next((rows for address, rows in counts.items() if remove_secrets(address) == source["source"]), [])
    return {**source, "history": [{"at": iso(at_ms / 1000), "ruleCount": n} for at_ms, n in rows[:_SHOWN_COUNTS]]}
