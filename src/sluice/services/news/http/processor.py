"""The routes of worker-news-processor."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.news.article import Stage
from sluice.services.news.http.status import NewsStatus
from sluice.services.news.process.processor import Processor
from sluice.web import Reply, Request, Route, read_query
from sluice.web.admin import require_admin


class ProcessOneQuery(BaseModel):
    """`?articleId=ID`, and `&force`, with or without a value, to repeat finished stages."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    article_id: Annotated[
        str,
        Field(
            validation_alias="articleId",
            min_length=1,
            max_length=200,
            description="The id of an article.",
            examples=["0123456789abcdef"],
        ),
    ]
    force: (
        Annotated[
            str,
            Field(pattern="^(|1|true|yes|0|false|no)$", description="Repeat finished stages; no value is needed."),
        ]
        | None
    ) = None

    @property
    def is_forced(self) -> bool:
        return self.force is not None and self.force not in {"0", "false", "no"}


def processor_routes(processor: Processor, status: NewsStatus, admin_token: str) -> list[Route]:
    async def process_one(request: Request) -> Reply:
        require_admin(request, admin_token)
        query = read_query(request, ProcessOneQuery)
        article = await processor.process_one(query.article_id, force=query.is_forced)
        body = {"success": article.stage is Stage.COMPLETE, "stage": article.stage, "article": article.as_json()}
        return Reply.json(body, headers={"Cache-Control": "no-store"})

    async def run(request: Request) -> Reply:
        require_admin(request, admin_token)
        report = await processor.run()
        return Reply.json(report.as_json(), headers={"Cache-Control": "no-store"})

    return [
        Route("GET", "/", process_one),
        Route("POST", "/run", run),
        *status.routes(),
    ]
