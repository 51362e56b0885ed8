"""Only a request with the operator's token is accepted."""

import pytest

from sluice.core.errors import Forbidden, Unauthorized
from sluice.web import Headers, Request
from sluice.web.admin import require_admin


def request(**headers: str) -> Request:
    return Request("GET", "https://example.com/logs", Headers(headers))


@pytest.mark.parametrize("value", ["Bearer token", "bearer token", "Bearer  token "])
def test_bearer(value: str):
    """The right token is accepted, and no other; the scheme is case-insensitive."""
    require_admin(request(authorization=value), "token")
    with pytest.raises(Unauthorized):
        require_admin(request(authorization=value), "another token")


@pytest.mark.parametrize("value", ["", "token", "Basic token", "Bearer", "Bearer tokem", "Bearer töken"])
def test_others(value: str):
    """Any other header is refused."""
    with pytest.raises(Unauthorized):
        require_admin(request(authorization=value), "token")


def test_switched_off():
    """If no token is set, even an empty one is refused."""
    with pytest.raises(Forbidden, match="ADMIN_TOKEN"):
        require_admin(request(authorization="Bearer "), "")
