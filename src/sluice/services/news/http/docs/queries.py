"""The queries in the documentation; a test holds the readers of the handlers against these models."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from sluice.core.news.topics.tags import TAGS
from sluice.services.news.serve.query import parse_change_time, parse_end, parse_share, parse_start


def _split_list(value: object) -> object:
    """Splits a list parameter, which may be repeated, separated by commas, or both."""
    items = value if isinstance(value, list) else [value]
    return [part.strip() for item in items for part in str(item).split(",") if part.strip()]


Names = Annotated[list[Annotated[str, Field(max_length=100)]], BeforeValidator(_split_list), Field(max_length=20)]
Start = Annotated[datetime, BeforeValidator(parse_start)]
End = Annotated[datetime, BeforeValidator(parse_end)]
Sentiments = Annotated[
    list[Literal["positive", "negative", "neutral", "unknown"]], BeforeValidator(_split_list), Field(max_length=4)
]


Tags = Annotated[
    list[Annotated[str, Field(pattern=f"^({'|'.join(TAGS)})$")]], BeforeValidator(_split_list), Field(max_length=20)
]


def _read_share(value: object) -> object:
    return parse_share(value) if isinstance(value, str) else value


class Filters(BaseModel):
    """Which articles to return; a day in `to` counts until its end."""

    model_config = ConfigDict(extra="forbid")

    sentiment: Annotated[Sentiments, Field(description="One or more, repeated or separated by commas.")] = []
    source: Annotated[Names, Field(description="Ids or names of sources, as for `sentiment`.")] = []
    language: Annotated[Names, Field(description="Languages, as for `sentiment`.")] = []
    status: Annotated[Literal["complete", "pending"], Field(description="Processed, or not yet.")] | None = None
    since: Start | None = Field(
        None, validation_alias=AliasChoices("from", "since"), description="Published then or later: a day or a time."
    )
    until: End | None = Field(
        None,
        validation_alias=AliasChoices("to", "until"),
        description="Published then or before; a day counts until its end.",
    )
    q: Annotated[
        str,
        Field(
            max_length=200, description='Words in any form, one OR another, "an exact phrase", and -words to exclude.'
        ),
    ] = ""
    changed_after: (
        Annotated[int, BeforeValidator(parse_change_time), Field(description="Changed later than this.")] | None
    ) = None
    tag: Annotated[Tags, Field(description="One of these tags or more, as for `sentiment`.")] = []
    entity: Annotated[Names, Field(description="Names as in `entities`, as for `sentiment`.")] = []


class ListQuery(Filters):
    """A page of the list."""

    limit: Annotated[int, Field(ge=1, le=100, description="Stories on a page.")] = 20
    cursor: Annotated[str, Field(max_length=400, description="`next` of the page before.")] | None = None
    sort: (
        Annotated[
            Literal["relevance", "newest"],
            Field(description="By relevance and recency, which is the default of a search, or by time."),
        ]
        | None
    ) = None
    min_importance: Annotated[
        float, BeforeValidator(_read_share), Field(ge=0, le=1, description="The least `importance` of a story.")
    ] = 0.0
    duplicates: Annotated[bool, Field(description="Return every article by itself, not grouped into stories.")] = False


class BucketQuery(Filters):
    """Counts by time of publication."""

    bucket: Annotated[Literal["hour", "day", "week"], Field(description="The length of a bucket.")] = "day"


class TrendQuery(Filters):
    """Trending terms."""

    hours: Annotated[int, Field(ge=1, le=720, description="How far back.")] = 24
    limit: Annotated[int, Field(ge=1, le=100, description="Terms at most.")] = 20


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
