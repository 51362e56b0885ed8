"""GET /lists/patches/…: what leads from one version of a published list to the next."""

from typing import Final

from sluice.core.compiler.published.list_names import PATCH_ID_PATTERN
from sluice.core.compiler.published.versions import PATCH_PATTERN
from sluice.core.errors import NotFound
from sluice.core.ports import Bucket
from sluice.services.compiler.published.keys import patch_key
from sluice.web import CachePolicy, Handler, Reply, Request, share_reply
from sluice.web.operations import Media, Operation, ReplyDoc, describe
from sluice.web.parameters import PathParameter

_FRESH_S: Final = 300
_TYPE: Final = "text/plain; charset=utf-8"
FOLDER: Final = PathParameter(
    "id",
    str,
    {"type": "string", "pattern": f"^{PATCH_ID_PATTERN}$"},
    "Letters that stand for the list.",
    "abcdefghijklmnop",
)
FILE: Final = PathParameter(
    "file",
    str,
    {"type": "string", "pattern": f"^{PATCH_PATTERN}$"},
    "The file of a version.",
    "2026.11.16.1270-m-29914990-360.patch",
)
READ_PATCH: Final = Operation(
    "readPatch",
    "The patch from one version to the next",
    {200: ReplyDoc("The output of `diff -n` under one directive.", Media("text/plain"))},
    "Differential updates of the AdGuard extension and uBlock Origin; `Diff-Path` in the header of a list "
    "names it. 404 while there is no newer version.",
    tag="Published lists",
    path=(FOLDER, FILE),
    problems=(404,),
)


def serve_patches(bucket: Bucket) -> Handler:
    @describe(READ_PATCH)
    async def read_patch(request: Request) -> Reply:
        folder, file = FOLDER.read(request), FILE.read(request)
        content = await bucket.get_bytes(patch_key(folder, file)) if _is_plain(folder, file) else None
        if content is None:
            raise NotFound("there is no patch here yet: the list has no newer version")
        reply = Reply(200, (("Content-Type", _TYPE),), content)
        return share_reply(reply, CachePolicy(max_age_s=_FRESH_S, tags=(f"patches-{folder}",)))

    return read_patch


def _is_plain(folder: str, file: str) -> bool:
    return folder.isascii() and folder.isalpha() and len(file) <= 64 and "/" not in file
