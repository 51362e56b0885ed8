"""The claims about KV; the subject is a `KV`."""

from contract.raises import raises
from sluice.core.errors import Invalid, TooLarge
from sluice.core.ports import KvText
from sluice.platform.storage.kv import KV


async def check_missing_key_reads_as_none(kv: KV, unique: str):
    """A key never written reads as None in every form, not as an error."""
    assert await kv.get_text(unique) is None
    assert await kv.get_json(unique) is None
    assert await kv.get_bytes(unique) is None
    assert await kv.get_with_metadata(unique) is None


async def check_text_comes_back(kv: KV, unique: str):
    """Text of any script comes back as it was, the empty one too."""
    for name, text in (("a", "né\0😀\n"), ("b", "")):
        await kv.put_text(f"{unique}-ключ-{name}", text)
        assert await kv.get_text(f"{unique}-ключ-{name}") == text


async def check_json_comes_back(kv: KV, unique: str):
    """A JSON value comes back as plain dict and list, with large numbers whole."""
    value = {"list": [1, None, True, "é"], "number": 2**60, "nested": {"a": {}}}
    await kv.put_json(unique, value)
    found = await kv.get_json(unique)
    assert found == value
    assert type(found["nested"]) is dict


async def check_bytes_come_back(kv: KV, unique: str):
    """Any bytes come back as bytes."""
    for name, content in (("a", bytes(range(256))), ("b", b"")):
        await kv.put_bytes(f"{unique}-{name}", content)
        assert await kv.get_bytes(f"{unique}-{name}") == content


async def check_metadata_comes_back(kv: KV, unique: str):
    """Metadata is read with the value and in the listing; without it there is None."""
    await kv.put_text(f"{unique}-with", "v", metadata={"a": [1, None]})
    await kv.put_text(f"{unique}-without", "v")
    assert await kv.get_with_metadata(f"{unique}-with") == KvText("v", {"a": [1, None]})
    assert await kv.get_with_metadata(f"{unique}-without") == KvText("v", None)
    assert [key.metadata for key in (await kv.list(unique)).keys] == [{"a": [1, None]}, None]


async def check_many_keys_are_read_at_once(kv: KV, unique: str):
    """More than a hundred keys are read together, the missing ones as None."""
    await kv.put_text(f"{unique}-7", "seven")
    found = await kv.get_many([f"{unique}-{n}" for n in range(205)])
    assert len(found) == 205
    assert found[f"{unique}-7"] == "seven"
    assert found[f"{unique}-204"] is None
    assert await kv.get_many([]) == {}


async def check_two_writes_to_one_key_both_succeed(kv: KV, unique: str):
    """Two writes in a row to one key are spaced, so that the platform accepts both."""
    await kv.put_text(unique, "first")
    await kv.put_text(unique, "second")
    assert await kv.get_text(unique) == "second"


async def check_deleted_key_is_gone(kv: KV, unique: str):
    """A deleted key reads as None, and deleting a missing one is no error."""
    await kv.put_text(unique, "v")
    await kv.delete(unique)
    await kv.delete(f"{unique}-missing")
    assert await kv.get_text(unique) is None


async def check_listing_goes_page_by_page(kv: KV, unique: str):
    """A listing is sorted, bounded by its limit and goes on at its cursor; the iterator sees every key once."""
    names = [f"{unique}-{n}" for n in range(5)]
    for name in reversed(names):
        await kv.put_text(name, "v", ttl_s=60)
    first = await kv.list(unique, limit=3)
    rest = await kv.list(unique, limit=3, cursor=first.cursor)
    assert [key.name for key in (*first.keys, *rest.keys)] == names
    assert rest.cursor is None
    assert all(key.expires_at for key in first.keys)
    assert [key.name async for key in kv.keys(unique)] == names
    assert (await kv.list(f"{unique}-none")).keys == ()


async def check_limits_are_refused(kv: KV, unique: str):
    """What KV would refuse is refused with the reason."""
    for key in ("", ".", "..", "k" * 513, "é" * 257):
        with raises(Invalid, "KV key"):
            await kv.put_text(key, "v")
    with raises(Invalid, "at least 60"):
        await kv.put_text(unique, "v", ttl_s=59)
    with raises(TooLarge, "1024"):
        await kv.put_text(unique, "v", metadata={"a": "x" * 1024})
    with raises(Invalid, "tuple"):
        await kv.put_text(unique, "v", metadata={"a": (1,)})
    with raises(TooLarge, "26214400"):
        await kv.put_bytes(unique, bytes(25 * 1024 * 1024 + 1))
    with raises(Invalid, "surrogate"):
        await kv.put_text(unique, "\ud800")


async def check_exact_limits_are_taken(kv: KV, unique: str):
    """A key of 512 bytes, metadata of 1,024 and a lifetime of 60 s are within the limits."""
    key = unique + "k" * (512 - len(unique))
    await kv.put_text(key, "v", ttl_s=60, metadata="x" * 1022)
    assert await kv.get_with_metadata(key) == KvText("v", "x" * 1022)
