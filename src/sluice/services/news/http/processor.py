"""The routes of worker-news-processor."""

from dataclasses import dataclass
from typing import Final

from sluice.core.news.article import Stage
from sluice.services.news.http.status import NewsStatus
from sluice.services.news.process.processor import Processor
from sluice.web import QueryReader, Reply, Request, Route
from sluice.web.admin import require_admin

_YES: Final = ("", "1", "true", "yes")
_NO: Final = ("0", "false", "no")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessOneQuery:
    """`?articleId=ID`, and `&force`, with or without a value, to repeat finished stages."""

    article_id: str
    force: bool


def read_process_one_query(request: Request) -> ProcessOneQuery:
    query = QueryReader(request)
    found = ProcessOneQuery(
        article_id=query.required_text("articleId", "article_id", min_chars=1, max_chars=200),
        force=query.parse("force", parse=_parse_force) or False,
    )
    query.check()
    return found


def _parse_force(text: str) -> bool:
    if text not in _YES + _NO:
        raise ValueError("String should match pattern '^(|1|true|yes|0|false|no)$'")
    return text in _YES


def processor_routes(processor: Processor, status: NewsStatus, admin_token: str) -> list[Route]:
    async def process_one(request: Request) -> Reply:
        require_admin(request, admin_token)
        query = read_process_one_query(request)
        article = await processor.process_one(query.article_id, force=query.force)
        body = {"success": article.stage is Stage.COMPLETE, "stage": article.stage, "article": article.as_json()}
        return Reply.json(body)

    async def run(request: Request) -> Reply:
        require_admin(request, admin_token)
        report = await processor.run()
        return Reply.json(report.as_json())

    return [
        Route("GET", "/", process_one),
        Route("POST", "/run", run),
        *status.routes(),
    ]
