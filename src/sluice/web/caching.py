"""Who may keep a copy of a reply: everybody, for the time that the handler states, or nobody.

A reply is kept by nobody unless its handler shares it: `App` closes every other one, errors included. So the answer to
a forgotten decision is a request more, never a stranger's reply. A shared reply must be right for everybody who gets
the copy: it never depends on a cookie, an address or the request's host, and `Access-Control-Allow-Origin: *` is sent to everybody.
A feed has whole links, so it is shared only where `PUBLIC_URL` says which host they have.
"""

import re
from dataclasses import dataclass
from typing import Final

from sluice.web.messages import Reply

# Cloudflare's rules for Cache-Tag: printable ASCII without spaces, and commas between the tags.
_TAG: Final = re.compile(r"[!-+\--~]{1,200}")
_MAX_TAGS: Final = 30


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """For how long a copy is fresh, for how long it may be served while a new one is fetched, and its tags.

    A copy is purged by its tags. Tags compare without case.
    """

    max_age_s: int
    tags: tuple[str, ...]
    stale_s: int = 0

    def __post_init__(self) -> None:
        if self.max_age_s < 0 or self.stale_s < 0:
            raise ValueError(f"a copy cannot be fresh for {self.max_age_s} s and stale for {self.stale_s} s")
        if not 1 <= len(self.tags) <= _MAX_TAGS or not all(_TAG.fullmatch(tag) for tag in self.tags):
            raise ValueError(f"a shared reply has 1 to {_MAX_TAGS} tags of printable ASCII: {self.tags}")

    @property
    def cache_control(self) -> str:
        stale = f", stale-while-revalidate={self.stale_s}" if self.stale_s else ""
        return f"public, max-age={self.max_age_s}{stale}"


def share_reply(reply: Reply, sharing: CachePolicy) -> Reply:
    """Return the reply as one that is the same for everybody and may be kept by every cache."""
    tagged = reply.with_header("Cache-Tag", ",".join(sharing.tags))
    return tagged.with_header("Cache-Control", sharing.cache_control)
