"""What worker-news-updater answers over HTTP."""

from sluice.core.bounded_json import parsed
from sluice.core.news.pending_list import entries_of
from sluice.services.news.collect.updater import Updater
from sluice.services.news.http import api_docs as docs
from sluice.services.news.http.status import Status
from sluice.services.news.storage.keys import PENDING
from sluice.web import Reply, Request, Route, problem
from sluice.web.admin import require_admin

_LATEST = 10


def routes(updater: Updater, status: Status, admin_token: str) -> list[Route]:
    async def listed(request: Request) -> Reply:
        """What is pending, newest first."""
        entries = entries_of(parsed(await updater.store.get_text(PENDING)))
        if not entries:
            detail = "no article is pending: none was fetched yet, or all are processed"
            return problem(404, "Nothing pending", detail, instance=request.path)
        body = {
            "success": True,
            "totalArticles": len(entries),
            "articleIds": [entry.article.id for entry in entries],
            "latestArticles": [dict(entry.article.data) for entry in entries[:_LATEST]],
        }
        return Reply.json(body, headers={"Cache-Control": "no-store"})

    async def run(request: Request) -> Reply:
        require_admin(request, admin_token)
        return Reply.json(await updater.run(), headers={"Cache-Control": "no-store"})

    return [
        Route("GET", "/", listed, doc=docs.PENDING),
        Route("POST", "/run", run, doc=docs.UPDATER_RUN),
        *status.routes(),
    ]
