"""What would happen with a request, and why: the zone's rules explained to its operator."""

from sluice.core.ports import HeaderPairs
from sluice.core.preload.caching.cache_keys import cache_key
from sluice.core.preload.caching.freshness import Unstorable, judge_response
from sluice.core.preload.caching.request_rules import Lookup, Pass, decide_request
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.http.requests import RulesBody
from sluice.services.preload.zone.operator_calls import ReplyJudgement, RequestExplanation, RulesReply

_OBSTACLES = {
    "": "the reply may be stored for everybody",
    "cookie": "the request has a cookie, so the reply may be for one visitor",
    "head": "HEAD has no body to store",
    "header": "the request has a header that may change the reply",
    "no-store": "the request says no-store",
    "range": "a part of a page is not stored",
    "spelling": "the URL is not written in its canonical form, which is warmed instead",
}


def explain_rules(request: RulesBody, config: ZoneConfig, now: float) -> RulesReply:
    """Return the decision about a request, and about the response to it."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    decision = decide_request(request.method, request.url, headers, config)
    pairs = tuple((name.lower(), value) for name, value in request.response_headers.items())
    explained = _explain_request(decision)
    judged = _explain_response(decision, request.status, pairs, config, now)
    return {**explained, **judged}


def _explain_request(decision: Pass | Lookup) -> RequestExplanation:
    if isinstance(decision, Pass):
        return {"decision": "pass", "detail": decision.detail, "reason": decision.reason}
    return {
        "decision": "lookup",
        "detail": decision.obstacle,
        "reason": _OBSTACLES[decision.obstacle],
        "url": decision.url,
        "variant": decision.variant,
        "cache_key": cache_key(decision.url, decision.variant),
    }


def _explain_response(
    decision: Pass | Lookup, status: int, headers: HeaderPairs, config: ZoneConfig, now: float
) -> ReplyJudgement:
    if isinstance(decision, Pass):
        return {"stored": False, "stored_reason": decision.reason}
    verdict = judge_response(status, headers, decision.url, config, now)
    if isinstance(verdict, Unstorable):
        return {"stored": False, "stored_reason": verdict.reason}
    is_stored = not decision.obstacle and config.cache_enabled is True
    reason = "cache_enabled is observe" if config.cache_enabled == "observe" else _OBSTACLES[decision.obstacle]
    return {
        "stored": is_stored,
        "stored_reason": reason,
        "ttl_s": verdict.lifetime_s,
        "stale_while_revalidate_s": verdict.while_revalidate_s,
        "stale_if_error_s": verdict.if_error_s,
    }
