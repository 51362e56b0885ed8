"""The operator's token, which protects what is not public."""

from hmac import compare_digest

from sluice.core.errors import Forbidden, Unauthorized
from sluice.web.messages import Request


def is_operator(request: Request, token: str) -> bool:
    """Return whether the request is the operator's; without credentials it is a stranger's, and wrong ones raise."""
    if "authorization" not in request.headers:
        return False
    require_admin(request, token)
    return True


def require_admin(request: Request, token: str) -> None:
    """Raise unless the request carries the token; without a token set, every request is refused."""
    if not token:
        raise Forbidden("this is disabled: set the variable ADMIN_TOKEN to enable it")
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not compare_digest(credentials.strip().encode(), token.encode()):
        raise Unauthorized("send the header Authorization: Bearer ADMIN_TOKEN")
