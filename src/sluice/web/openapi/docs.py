"""Descriptions of routes: plain values, from which the documents are built before anything is deployed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from pydantic.json_schema import SkipJsonSchema

# The operator's bearer token, or the headers of a signed request.
Security = Literal["admin", "signed"]
# The tag of the routes that every Worker has; it comes last.
SERVICE: Final = "Service"
# `name: int | Absent = None` is a member that may be missing but is never null.
Absent: TypeAlias = SkipJsonSchema[None]


class ReplyModel(BaseModel):
    """Base of the models that describe replies."""


class CamelReplyModel(ReplyModel):
    """Base of the models whose fields are in snake_case and appear in camelCase in the reply."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)


@dataclass(frozen=True, slots=True)
class Media:
    """Content other than the JSON of a model."""

    type: str
    description: str = ""


Content = type[BaseModel] | Media


@dataclass(frozen=True, slots=True)
class ReplyDoc:
    """One reply that is not a problem: JSON of a model, other media, or a choice of these; empty for no body."""

    description: str
    content: Content | tuple[Content, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def contents(self) -> tuple[Content, ...]:
        return self.content if isinstance(self.content, tuple) else (self.content,)


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of the path; `choices` lists all its values, if they are few."""

    description: str
    example: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Doc:
    """One operation.

    `problems` lists the statuses of problem replies, except those that follow from a body, a query, parameters or
    `security`, whose members are alternatives. `example` is a valid body.
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


# The description of each route, by its method and its pattern.
Documentation = Mapping[tuple[str, str], Doc]
