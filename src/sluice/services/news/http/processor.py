"""What worker-news-processor answers over HTTP."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.news.article import Stage
from sluice.services.news.http import api_docs as docs
from sluice.services.news.http.status import Status
from sluice.services.news.process.processor import Processor
from sluice.web import Answer, Doc, Reply, Request, Route, query_model
from sluice.web.admin import require_admin


class OneArticle(BaseModel):
    """`?articleId=ID`, and `&force`, with or without a value, to do again what was done."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    article_id: Annotated[
        str,
        Field(
            validation_alias="articleId",
            min_length=1,
            max_length=200,
            description="The id of an article.",
            examples=[docs.ARTICLE_ID],
        ),
    ]
    force: (
        Annotated[
            str,
            Field(pattern="^(|1|true|yes|0|false|no)$", description="Do again what was done; it needs no value."),
        ]
        | None
    ) = None

    @property
    def is_forced(self) -> bool:
        return self.force is not None and self.force not in {"0", "false", "no"}


ONE: Final = Doc(
    summary="One article by hand, all its stages at once",
    tag="Pipeline",
    query=OneArticle,
    replies={200: Answer("The article as it is then.", docs.ProcessedArticle)},
    problems=(404, 409),
    security=("admin",),
)


def routes(processor: Processor, status: Status, admin_token: str) -> list[Route]:
    async def one(request: Request) -> Reply:
        require_admin(request, admin_token)
        wanted = query_model(request, OneArticle)
        article = await processor.by_hand(wanted.article_id, force=wanted.is_forced)
        body = {"success": article.stage is Stage.COMPLETE, "stage": article.stage, "article": dict(article.data)}
        return Reply.json(body, headers={"Cache-Control": "no-store"})

    async def run(request: Request) -> Reply:
        require_admin(request, admin_token)
        return Reply.json(await processor.run(), headers={"Cache-Control": "no-store"})

    return [
        Route("GET", "/", one, doc=ONE),
        Route("POST", "/run", run, doc=docs.PROCESSOR_RUN),
        *status.routes(),
    ]
