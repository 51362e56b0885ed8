"""The routes of worker-news-updater."""

from typing import Final, Literal, TypedDict

from sluice.core.json_text import parse_stored_json
from sluice.core.news.article import StoredArticle
from sluice.core.news.pending_list import parse_pending_list
from sluice.services.news.collect.updater import Updater, UpdaterRun
from sluice.services.news.http.status import NewsStatus
from sluice.services.news.storage.keys import PENDING
from sluice.web import Reply, Request, Route, build_problem
from sluice.web.admin import OperatorGate
from sluice.web.operations import Operation, ReplyDoc, describe

_MAX_LATEST: Final = 10


class PendingArticles(TypedDict):
    success: Literal[True]
    totalArticles: int
    articleIds: list[str]
    latestArticles: list[StoredArticle]


LIST_PENDING: Final = Operation(
    "listPendingArticles",
    "Articles that wait to be processed",
    {200: ReplyDoc("All ids, and the ten newest articles.", PendingArticles)},
    tag="Processing",
    problems=(404, 429),
)
RUN: Final = Operation(
    "runUpdater",
    "Fetch news now",
    {200: ReplyDoc("The result of the run.", UpdaterRun)},
    tag="Processing",
    security=("admin",),
)


def updater_routes(updater: Updater, status: NewsStatus, operators: OperatorGate) -> list[Route]:
    async def list_pending(request: Request) -> Reply:
        entries = parse_pending_list(parse_stored_json(await updater.kv.get_text(PENDING)))
        if not entries:
            detail = "no article is pending: none was fetched yet, or all are processed"
            return build_problem(404, "Nothing pending", detail, instance=request.path)
        body: PendingArticles = {
            "success": True,
            "totalArticles": len(entries),
            "articleIds": [entry.article.id for entry in entries],
            "latestArticles": [entry.article.as_json() for entry in entries[:_MAX_LATEST]],
        }
        return Reply.json(body)

    @describe(RUN)
    async def run(request: Request) -> Reply:
        await operators.admit(request)
        report = await updater.run()
        return Reply.json(report.as_json())

    return [
        Route("GET", "/", describe(LIST_PENDING)(status.reads.limit(list_pending))),
        Route("POST", "/run", run),
        *status.routes(),
    ]
