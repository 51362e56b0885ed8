"""The operator's token: who may see and do what is not for everyone."""

from hmac import compare_digest

from sluice.core.errors import Forbidden, Unauthorized
from sluice.web.messages import Request


def require_admin(request: Request, token: str) -> None:
    """Pass the bearer of the token only; without a token set, nobody passes."""
    if not token:
        raise Forbidden("this is switched off until the variable ADMIN_TOKEN is set")
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not compare_digest(given.strip().encode(), token.encode()):
        raise Unauthorized("send the header Authorization: Bearer ADMIN_TOKEN")
