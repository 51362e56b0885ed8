"""The operations on published lists: what they take and reply."""

from functools import partial
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.compiler.published.definition import ListDefinition
from sluice.core.compiler.published.list_names import NAME_PATTERN, check_name
from sluice.core.compiler.published.why_index import Explanation
from sluice.services.compiler.http.list_facts import BuildAccepted, PublishedListFacts, PublishedLists, Versions
from sluice.services.compiler.published.builds.rule_compilation import Overlap
from sluice.services.compiler.published.differences import Difference
from sluice.services.compiler.published.previews import Preview
from sluice.services.compiler.published.sources.source_fetcher import CHECK_S
from sluice.web.operations import Media, Operation, ReplyDoc
from sluice.web.parameters import PathParameter, Query, flag, required_integer, required_text

MAX_DOMAIN_CHARS: Final = 2_048


class RollbackRequest(BaseModel):
    """The version whose rules are published again."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    version: Annotated[int, Field(ge=1)]


NAME: Final = PathParameter(
    "name",
    check_name,
    {"type": "string", "pattern": f"^{NAME_PATTERN}$"},
    "The name of a list: a-z, 0-9, and hyphens inside.",
    "my-list",
)
_NAME_OR_ADDRESS: Final = NAME._replace(
    schema={"type": "string", "pattern": f"^{NAME_PATTERN}(?:\\.[a-z-]+)?$"},
    about="The name of a list, for its facts; with `.txt` or a format behind it, the list itself.",
)
DRY_RUN: Final = flag("dryRun", about="Answer what would change, and publish nothing.")
_VERSION: Final = partial(required_integer, minimum=1, maximum=2**31, about="A version.")
FROM, TO = _VERSION("from", example="1"), _VERSION("to", example="2")
DOMAIN: Final = required_text(
    "domain",
    min_chars=1,
    max_chars=MAX_DOMAIN_CHARS,
    about="A host name in any script, or an address with it.",
    example="ads.example.org",
)

_TAG: Final = "Published lists"
_ACCEPTED: Final = {"Location": "Where the list's facts are."}
_STARTED: Final = {202: ReplyDoc("The build is started.", BuildAccepted, _ACCEPTED)}
LIST_LISTS: Final = Operation(
    "listPublishedLists",
    "All published lists",
    {200: ReplyDoc("Each with its state.", PublishedLists)},
    tag=_TAG,
    problems=(429,),
)
SHOW_LIST: Final = Operation(
    "showPublishedList",
    "A list: its facts, or at NAME.txt and NAME.FORMAT the list itself",
    {
        200: ReplyDoc(
            "The facts, or the list.",
            (PublishedListFacts, Media("text/plain", "The list, a rule on each line.")),
        ),
        304: ReplyDoc("The copy of the caller is current."),
    },
    "`/lists/NAME.txt` is the address to subscribe to, and `/lists/NAME.FORMAT` the same in another "
    "format. It has an ETag and Last-Modified, and ignores the query. While a list was never built, its address answers "
    "503 and never an empty list.",
    tag=_TAG,
    path=(_NAME_OR_ADDRESS,),
    problems=(404, 429, 503),
)
PUT_LIST: Final = Operation(
    "savePublishedList",
    "Publish a list, or change it",
    {
        200: ReplyDoc("With `dryRun`: what would change.", Preview),
        201: ReplyDoc("The list is new; its first build is started.", BuildAccepted, _ACCEPTED),
        202: ReplyDoc("The list is changed; a build is started.", BuildAccepted, _ACCEPTED),
    },
    "Stores the definition and starts a build. The sources are looked at first: if they are too large together, "
    "the reply is 413 with the sum and the limit, and nothing is stored. Sources that do not answer within "
    f"{CHECK_S:g} seconds are left to the build, which fails for the same reason. `mirrors` are other addresses of sources: texts, or objects "
    "with `address` and `sha256`. A list of lists.json or PUBLISHED_LISTS cannot be changed here.",
    tag=_TAG,
    path=(NAME,),
    query=Query(DRY_RUN),
    body=ListDefinition,
    example={
        "configuration": {"name": "My list", "sources": [{"source": "https://example.org/hosts.txt"}]},
        "schedule": "0 */6 * * *",
        "formats": ["hosts"],
    },
    is_repeatable=True,
    problems=(409, 429, 502, 503, 504),
    security=("admin",),
)
DELETE_LIST: Final = Operation(
    "deletePublishedList",
    "Remove a list and all that is stored of it",
    {204: ReplyDoc("It is gone.")},
    tag=_TAG,
    path=(NAME,),
    problems=(404, 409),
    security=("admin",),
)
REBUILD_LIST: Final = Operation(
    "rebuildPublishedList",
    "Build a list now",
    _STARTED,
    "A build that is asked for while another one runs waits behind it.",
    tag=_TAG,
    path=(NAME,),
    is_repeatable=True,
    problems=(404, 429, 503),
    security=("admin",),
)
ROLL_BACK_LIST: Final = Operation(
    "rollBackPublishedList",
    "Publish the rules of an older version as a new one",
    _STARTED,
    "They stay until a source changes.",
    tag=_TAG,
    path=(NAME,),
    body=RollbackRequest,
    example={"version": 1},
    is_repeatable=True,
    problems=(404, 429, 503),
    security=("admin",),
)
LIST_VERSIONS: Final = Operation(
    "listVersions",
    "The last 30 versions, the newest first",
    {200: ReplyDoc("Number, time and rules of each.", Versions)},
    tag=_TAG,
    path=(NAME,),
    problems=(404, 429),
)
COMPARE_VERSIONS: Final = Operation(
    "compareVersions",
    "The rules that were added and removed between two versions",
    {200: ReplyDoc("Rules, without comments.", Difference)},
    tag=_TAG,
    path=(NAME,),
    query=Query(FROM, TO),
    problems=(404, 429),
)
EXPLAIN: Final = Operation(
    "explainName",
    "Why a name is blocked or allowed",
    {200: ReplyDoc("The rule that decides, and where it stands.", Explanation)},
    tag=_TAG,
    path=(NAME,),
    query=Query(DOMAIN),
    problems=(404, 429),
)
SHOW_OVERLAP: Final = Operation(
    "showOverlap",
    "What each source contributes",
    {200: ReplyDoc("Rules that each source has alone and shares.", Overlap)},
    tag=_TAG,
    path=(NAME,),
    problems=(404, 429),
)
