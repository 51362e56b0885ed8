"""The routes of worker-news-processor."""

from typing import Annotated, Final, TypedDict

from sluice.core.doc import Doc
from sluice.core.news.article import Stage, StoredArticle
from sluice.services.news.http import ARTICLE_ID
from sluice.services.news.http.status import NewsStatus
from sluice.services.news.process.processor import Processor
from sluice.services.news.process.run import ProcessorRun
from sluice.web import Reply, Request, Route
from sluice.web.admin import OperatorGate
from sluice.web.operations import Operation, ReplyDoc, describe
from sluice.web.parameters import Parameter, Query, parsed

_YES: Final = ("", "1", "true", "yes")
_NO: Final = ("0", "false", "no")
_FORCE: Final = "^(|1|true|yes|0|false|no)$"
_MAX_ID_CHARS: Final = 200


def _parse_force(text: str) -> bool:
    if text not in _YES + _NO:
        raise ValueError(f"String should match pattern '{_FORCE}'")
    return text in _YES


ARTICLE: Final[Parameter[str]] = Parameter(
    "articleId",
    lambda query: query.required_text("articleId", "article_id", min_chars=1, max_chars=_MAX_ID_CHARS),
    {"type": "string", "minLength": 1, "maxLength": _MAX_ID_CHARS},
    "The id of an article.",
    ARTICLE_ID,
    is_required=True,
)
# With or without a value.
FORCE: Final = parsed(
    "force",
    parse=_parse_force,
    schema={"type": "string", "pattern": _FORCE},
    about="Repeat finished stages; no value is needed.",
)


class ProcessedArticle(TypedDict):
    success: Annotated[bool, Doc("Whether the article is complete.")]
    stage: Annotated[Stage, Doc("The stage that it needs next.")]
    article: StoredArticle


PROCESS_ARTICLE: Final = Operation(
    "processOneArticle",
    "Process one article now, all its stages at once",
    {200: ReplyDoc("The article after processing.", ProcessedArticle)},
    tag="Processing",
    query=Query(ARTICLE, FORCE),
    problems=(404, 409),
    security=("admin",),
)
RUN: Final = Operation(
    "runProcessor",
    "Process articles now",
    {200: ReplyDoc("The result of the run.", ProcessorRun)},
    tag="Processing",
    security=("admin",),
)


def processor_routes(processor: Processor, status: NewsStatus, operators: OperatorGate) -> list[Route]:
    @describe(PROCESS_ARTICLE)
    async def process_one(request: Request) -> Reply:
        await operators.admit(request)
        given = PROCESS_ARTICLE.read(request)
        article = await processor.process_one(given[ARTICLE], force=given[FORCE] or False)
        is_complete = article.stage is Stage.COMPLETE
        return Reply.json(ProcessedArticle(success=is_complete, stage=article.stage, article=article.as_json()))

    @describe(RUN)
    async def run(request: Request) -> Reply:
        await operators.admit(request)
        report = await processor.run()
        return Reply.json(report.as_json())

    return [
        Route("GET", "/", process_one),
        Route("POST", "/run", run),
        *status.routes(),
    ]
