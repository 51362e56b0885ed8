"""The claims about R2; the subject is an `R2`."""

import hashlib
import time

from contract.raises import raises
from sluice.core.errors import Invalid, TooLarge
from sluice.platform.storage.r2 import R2


async def check_missing_object_is_none(r2: R2, unique: str):
    """An object never put is None, not an error."""
    assert await r2.get(unique) is None
    assert await r2.get_bytes(unique) is None
    assert await r2.head(unique) is None
    assert await r2.open(unique) is None


async def check_content_comes_back(r2: R2, unique: str):
    """Bytes come back as bytes, text as its UTF-8, nothing as nothing."""
    for name, body, content in (("a", bytes(range(256)), bytes(range(256))), ("b", "é", "é".encode()), ("c", b"", b"")):
        await r2.put(f"{unique}-{name}", body)
        assert await r2.get_bytes(f"{unique}-{name}") == content


async def check_metadata_comes_back(r2: R2, unique: str):
    """The headers and the custom metadata come back with the object, its head and its listing."""
    custom = {"source": "contract", "ключ": "é"}
    await r2.put(unique, b"12345", content_type="text/plain", cache_control="max-age=60", custom_metadata=custom)
    found = await r2.get(unique)
    assert found is not None
    assert found.body == b"12345"
    assert found.object == await r2.head(unique)
    assert found.object == (await r2.list(unique)).objects[0]
    assert found.object.size == 5
    assert found.object.http_metadata == {"contentType": "text/plain", "cacheControl": "max-age=60"}
    assert found.object.custom_metadata == custom
    assert type(found.object.custom_metadata) is dict


async def check_known_content_is_not_read(r2: R2, unique: str):
    """An object with the ETag that the caller knows comes without its content; the ETag is the MD5 of the content."""
    stored = await r2.put(unique, b"12345", custom_metadata={"a": "b"})
    assert stored is not None
    assert stored.etag == hashlib.md5(b"12345", usedforsecurity=False).hexdigest()
    known = await r2.open_file(unique, unless_etag=stored.etag)
    other = await r2.open_file(unique, unless_etag="0" * 32)
    assert known is not None
    assert other is not None
    assert (known.size, known.custom_metadata, known.stream) == (5, {"a": "b"}, None)
    assert other.stream is not None


async def check_upload_time_is_now(r2: R2, unique: str):
    """The time of upload is in epoch seconds."""
    stored = await r2.put(unique, b"")
    assert stored is not None
    assert abs(stored.uploaded_at - time.time()) < 86400 * 366 * 10


async def check_range_is_read(r2: R2, unique: str):
    """A part is read by offset and length, up to the end at most; one behind the end is Invalid."""
    await r2.put(unique, b"0123456789")
    for offset, length, expected in ((2, 3, b"234"), (7, None, b"789"), (8, 100, b"89"), (0, 1, b"0")):
        found = await r2.get(unique, offset=offset, length=length)
        assert found is not None
        assert found.body == expected
        assert found.object.size == 10
    with raises(Invalid, "range"):
        await r2.get(unique, offset=10)


async def check_put_only_if_absent(r2: R2, unique: str):
    """The first of two conditional puts wins and the second changes nothing."""
    assert await r2.put(unique, b"first", if_absent=True) is not None
    assert await r2.put(unique, b"second", if_absent=True) is None
    assert await r2.get_bytes(unique) == b"first"


async def check_put_only_if_unchanged(r2: R2, unique: str):
    """A put on a stale etag changes nothing."""
    first = await r2.put(unique, b"first")
    assert first is not None
    assert await r2.put(unique, b"second", if_etag=first.etag) is not None
    assert await r2.put(unique, b"third", if_etag=first.etag) is None
    assert await r2.get_bytes(unique) == b"second"


async def check_objects_are_deleted(r2: R2, unique: str):
    """One or many are deleted, more than a thousand too, and missing ones are no error."""
    for name in "abc":
        await r2.put(f"{unique}-{name}", b"")
    await r2.delete(f"{unique}-a")
    await r2.delete([f"{unique}-b", *(f"{unique}-{n}" for n in range(1001))])
    assert [found.key for found in (await r2.list(unique)).objects] == [f"{unique}-c"]


async def check_listing_goes_page_by_page(r2: R2, unique: str):
    """A listing is sorted, bounded by its limit and goes on at its cursor; the iterator sees every object once."""
    keys = [f"{unique}-{n}" for n in range(5)]
    for key in reversed(keys):
        await r2.put(key, b"")
    first = await r2.list(unique, limit=3)
    rest = await r2.list(unique, limit=3, cursor=first.cursor)
    assert [found.key for found in (*first.objects, *rest.objects)] == keys
    assert rest.cursor is None
    assert [found.key async for found in r2.objects(unique)] == keys


async def check_limits_are_refused(r2: R2, unique: str):
    """What R2 would refuse, or silently turn into text, is refused with the reason."""
    for key in ("", "k" * 1025):
        with raises(Invalid, "R2 key"):
            await r2.put(key, b"")
    with raises(TooLarge, "8192"):
        await r2.put(unique, b"", custom_metadata={"a": "x" * 8192})
    with raises(Invalid, "int"):
        await r2.put(unique, b"", custom_metadata={"a": 5})  # type: ignore[dict-item]
