"""Only the bearer of the operator's token passes."""

import pytest

from sluice.core.errors import Forbidden, Unauthorized
from sluice.web import Headers, Request
from sluice.web.admin import require_admin


def request(**headers: str) -> Request:
    return Request("GET", "https://example.com/logs", Headers(headers))


@pytest.mark.parametrize("value", ["Bearer token", "bearer token", "Bearer  token "])
def test_bearer(value: str):
    """The right token passes, whatever the case of the scheme."""
    require_admin(request(authorization=value), "token")


@pytest.mark.parametrize("value", ["", "token", "Basic token", "Bearer", "Bearer tokem", "Bearer töken"])
def test_others(value: str):
    """Anything else does not."""
    with pytest.raises(Unauthorized):
        require_admin(request(authorization=value), "token")


def test_switched_off():
    """Without a token set, even an empty one does not pass."""
    with pytest.raises(Forbidden, match="ADMIN_TOKEN"):
        require_admin(request(authorization="Bearer "), "")
