"""What a route says of itself: plain values beside the handler, of which nothing is computed until somebody asks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from pydantic.json_schema import SkipJsonSchema

# The operator's bearer token, or the headers of a signed request.
Security = Literal["admin", "signed"]
# The tag of what every Worker has; it comes last.
SERVICE: Final = "Service"
# `name: int | Absent = None` is a member that is a number where it is there at all.
Absent: TypeAlias = SkipJsonSchema[None]


class ReplyModel(BaseModel):
    """Base of the models that describe replies.

    They are built when the document is; an isolate that never tells it does not pay for them.
    """

    model_config = ConfigDict(defer_build=True)


class CamelReplyModel(ReplyModel):
    """The same for replies whose members are in camelCase; the model's are in snake_case."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)


@dataclass(frozen=True, slots=True)
class Media:
    """A content that is not the JSON of a model."""

    type: str
    description: str = ""


Content = type[BaseModel] | Media


@dataclass(frozen=True, slots=True)
class ReplyDoc:
    """One reply that is not a problem: JSON of a model, other media, or a choice of both; nothing for no body."""

    description: str
    content: Content | tuple[Content, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def contents(self) -> tuple[Content, ...]:
        return self.content if isinstance(self.content, tuple) else (self.content,)


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of the path; `choices` are all there are, if they are few."""

    description: str
    example: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Doc:
    """One operation.

    `problems` are the statuses told as problem+json besides those that follow from a body, a query, parameters or
    `security`, whose members are alternatives. `example` is a body that the operation takes as it stands.
    """

    summary: str
    replies: Mapping[int, ReplyDoc]
    description: str = ""
    tag: str = ""
    params: Mapping[str, Param] = field(default_factory=dict)
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    body_required: bool = True
    example: Any = None
    problems: tuple[int, ...] = ()
    security: tuple[Security, ...] = ()
