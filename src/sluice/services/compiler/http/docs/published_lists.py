"""The documentation of the routes of published lists."""

from typing import Any, Final

from sluice.core.compiler.published.definition import ListDefinition
from sluice.services.compiler.http.docs import published_replies
from sluice.services.compiler.http.lists import RollbackRequest
from sluice.services.compiler.published.sources.source_fetcher import CHECK_S
from sluice.web.openapi.docs import Doc, Documentation, Media, Param, ReplyDoc

_LISTS: Final = "Published lists"
_NAME: Final = {"name": Param("The name of a list: a-z, 0-9, and hyphens inside.", "my-list")}
_ADDRESS: Final = {
    "name": Param("The name of a list, for its facts; with `.txt` or a format behind it, the list itself.", "my-list")
}
_DEFINITION: Final[dict[str, Any]] = {
    "configuration": {"name": "My list", "sources": [{"source": "https://example.org/hosts.txt"}]},
    "schedule": "0 */6 * * *",
    "formats": ["hosts"],
}
_ACCEPTED: Final = {"Location": "Where the list's facts are."}

ROUTES: Final[Documentation] = {
    ("GET", "/lists"): Doc(
        summary="All published lists",
        tag=_LISTS,
        replies={200: ReplyDoc("Each with its state.", published_replies.PublishedLists)},
    ),
    ("GET", "/lists/:name"): Doc(
        summary="A list: its facts, or at NAME.txt and NAME.FORMAT the list itself",
        description="`/lists/NAME.txt` is the address to subscribe to, and `/lists/NAME.FORMAT` the same in another "
        "format. It has an ETag and Last-Modified, and ignores the query. While a list was never built, its address answers "
        "503 and never an empty list.",
        tag=_LISTS,
        params=_ADDRESS,
        replies={
            200: ReplyDoc(
                "The facts, or the list.",
                (published_replies.PublishedListFacts, Media("text/plain", "The list, a rule on each line.")),
            ),
            304: ReplyDoc("The copy of the caller is current."),
        },
        problems=(404, 503),
    ),
    ("PUT", "/lists/:name"): Doc(
        summary="Publish a list, or change it",
        description="Stores the definition and starts a build. The sources are looked at first: if they are too large together, "
        "the reply is 413 with the sum and the limit, and nothing is stored. Sources that do not answer within "
        f"{CHECK_S:g} seconds are left to the build, which fails for the same reason. `mirrors` are other addresses of sources: texts, or objects "
        "with `address` and `sha256`. A list of lists.json or PUBLISHED_LISTS cannot be changed here.",
        tag=_LISTS,
        params=_NAME,
        query=published_replies.PutQuery,
        body=ListDefinition,
        example=_DEFINITION,
        replies={
            200: ReplyDoc("With `dryRun`: what would change.", published_replies.Preview),
            201: ReplyDoc("The list is new; its first build is started.", published_replies.BuildAccepted, _ACCEPTED),
            202: ReplyDoc("The list is changed; a build is started.", published_replies.BuildAccepted, _ACCEPTED),
        },
        problems=(409, 429, 502, 504),
        security=("admin",),
    ),
    ("DELETE", "/lists/:name"): Doc(
        summary="Remove a list and all that is stored of it",
        tag=_LISTS,
        params=_NAME,
        replies={204: ReplyDoc("It is gone.")},
        problems=(404, 409),
        security=("admin",),
    ),
    ("POST", "/lists/:name/rebuild"): Doc(
        summary="Build a list now",
        description="A build that is asked for while another one runs waits behind it.",
        tag=_LISTS,
        params=_NAME,
        replies={202: ReplyDoc("The build is started.", published_replies.BuildAccepted, _ACCEPTED)},
        problems=(404, 429),
        security=("admin",),
    ),
    ("POST", "/lists/:name/rollback"): Doc(
        summary="Publish the rules of an older version as a new one",
        description="They stay until a source changes.",
        tag=_LISTS,
        params=_NAME,
        body=RollbackRequest,
        example={"version": 1},
        replies={202: ReplyDoc("The build is started.", published_replies.BuildAccepted, _ACCEPTED)},
        problems=(404, 429),
        security=("admin",),
    ),
    ("GET", "/lists/:name/versions"): Doc(
        summary="The last 30 versions, the newest first",
        tag=_LISTS,
        params=_NAME,
        replies={200: ReplyDoc("Number, time and rules of each.", published_replies.Versions)},
        problems=(404,),
    ),
    ("GET", "/lists/:name/diff"): Doc(
        summary="The rules that were added and removed between two versions",
        tag=_LISTS,
        params=_NAME,
        query=published_replies.DifferenceQuery,
        replies={200: ReplyDoc("Rules, without comments.", published_replies.Difference)},
        problems=(404,),
    ),
    ("GET", "/lists/:name/why"): Doc(
        summary="Why a name is blocked or allowed",
        tag=_LISTS,
        params=_NAME,
        query=published_replies.WhyQuery,
        replies={200: ReplyDoc("The rule that decides, and where it stands.", published_replies.Explanation)},
        problems=(404,),
    ),
    ("GET", "/lists/:name/overlap"): Doc(
        summary="What each source contributes",
        tag=_LISTS,
        params=_NAME,
        replies={200: ReplyDoc("Rules that each source has alone and shares.", published_replies.Overlap)},
        problems=(404,),
    ),
    ("GET", "/lists/patches/:id/:file"): Doc(
        summary="The patch from one version to the next",
        description="Differential updates of the AdGuard extension and uBlock Origin; `Diff-Path` in the header of a list "
        "names it. 404 while there is no newer version.",
        tag=_LISTS,
        params={
            "id": Param("Letters that stand for the list.", "abcdefghijklmnop"),
            "file": Param("The file of a version.", "2026.11.16.1270-m-29914990-360.patch"),
        },
        replies={200: ReplyDoc("The output of `diff -n` under one directive.", Media("text/plain"))},
        problems=(404,),
    ),
}
