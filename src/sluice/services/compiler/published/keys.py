"""Where the parts of published lists stand in R2. Each address is one object, so that it changes in one step."""

import hashlib
from typing import Final

from sluice.core.compiler.published.definition import ADBLOCK
from sluice.core.compiler.published.list_names import derive_patch_id

PREFIX: Final = "published/"
BUILDS_PREFIX: Final = f"{PREFIX}builds/"
EXTENSION: Final = "txt"  # of the adblock text


def address_key(name: str, list_format: str) -> str:
    return f"{PREFIX}at/{name}.{EXTENSION if list_format == ADBLOCK else list_format}"


def address_prefix(name: str) -> str:
    return f"{PREFIX}at/{name}."


def version_key(name: str, version: int) -> str:
    return f"{PREFIX}versions/{name}/{version}"


def index_key(name: str, version: int) -> str:
    return f"{PREFIX}index/{name}/{version}"


def patch_key(patch_id: str, file: str) -> str:
    return f"{PREFIX}patches/{patch_id}/{file}"


def copy_key(name: str, source: str, digest: str) -> str:
    return f"{copies_prefix(name)}{hashlib.sha256(source.encode()).hexdigest()[:24]}/{digest}"


def copies_prefix(name: str) -> str:
    return f"{PREFIX}copies/{name}/"


def build_key(build_id: str, part: str) -> str:
    return f"{BUILDS_PREFIX}{build_id}/{part}"


def list_prefixes(name: str) -> tuple[str, ...]:
    """Return the prefixes of everything that is stored of a list."""
    return (
        address_prefix(name),
        f"{PREFIX}versions/{name}/",
        f"{PREFIX}index/{name}/",
        copies_prefix(name),
        f"{PREFIX}patches/{derive_patch_id(name)}/",
    )


def cache_tags(name: str) -> list[str]:
    """Return the tags of all copies of a list, and of its patches, in public caches."""
    return [f"list-{name}", f"patches-{derive_patch_id(name)}"]
