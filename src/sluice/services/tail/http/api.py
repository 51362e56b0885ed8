"""The routes of sluice-tail."""

from sluice.services.tail.journal import Journal
from sluice.web import QueryReader, Reply, Request, Route
from sluice.web.admin import require_admin


def tail_routes(journal: Journal, admin_token: str) -> list[Route]:
    async def list_logs(request: Request) -> Reply:
        require_admin(request, admin_token)
        records = await journal.newest_records(read_limit(request))
        return Reply.json({"records": records})

    return [Route("GET", "/logs", list_logs)]


def read_limit(request: Request) -> int:
    """Return `?limit=`, the maximum number of records."""
    query = QueryReader(request)
    limit = query.integer("limit", 50, minimum=1, maximum=100)
    query.check()
    return limit
