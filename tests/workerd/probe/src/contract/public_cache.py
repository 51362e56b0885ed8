"""The claims about the cache in front of a Worker; the subject is a `Front`, its adapter and a visitor."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from contract.raises import raises
from sluice.core.errors import Invalid
from sluice.platform.public_cache import PublicCache


@dataclass
class Front:
    """`visit(path, *tags)` asks for a reply with these tags; returns whether a copy answered."""

    cache: PublicCache
    visit: Callable[..., Awaitable[bool]]


async def check_a_purge_removes_by_tag(front: Front, unique: str):
    """A purge removes the copies with one of the tags, in any case of letters, and no other copy."""
    pages = {"/a": (f"{unique}-a", f"{unique}-all"), "/b": (f"{unique}-b", f"{unique}-all"), "/c": (f"{unique}-c",)}
    for path, tags in pages.items():
        assert not await front.visit(f"/{unique}{path}", *tags)
        assert await front.visit(f"/{unique}{path}", *tags)
    await front.cache.purge([f"{unique}-ALL"])
    found = {path: await front.visit(f"/{unique}{path}", *tags) for path, tags in pages.items()}
    assert found == {"/a": False, "/b": False, "/c": True}


async def check_many_tags_are_split(front: Front, unique: str):
    """More tags than one purge takes are all purged; unknown ones do no harm."""
    assert not await front.visit(f"/{unique}", f"{unique}-149")
    await front.cache.purge(f"{unique}-{number}" for number in range(150))
    assert not await front.visit(f"/{unique}", f"{unique}-149")
    await front.cache.purge([])


async def check_an_empty_tag_is_refused(front: Front, unique: str):
    """An empty tag is refused before anything is purged."""
    assert not await front.visit(f"/{unique}", unique)
    with raises(Invalid, "tag"):
        await front.cache.purge([unique, ""])
    assert await front.visit(f"/{unique}", unique)
