"""The settings: defaults, mistakes, the version of the Worker, and the webhook."""

from types import SimpleNamespace
from typing import Any

import pytest

from sluice.core.errors import ConfigError, Unavailable
from sluice.core.json_text import encode_json
from sluice.core.ports import FetchResponse
from sluice.core.preload.incidents import Incident
from sluice.core.variables import Variables
from sluice.services.preload.zone.alerts import AlertWebhook
from sluice.services.preload.zone.services import format_uuid4
from sluice.services.preload.zone.settings import (
    PAID_SUBREQUESTS,
    PreloadSettings,
    read_api_hosts,
    read_signing_keys,
    read_version_id,
)
from sluice.web.common_routes import check_secrets

ALERT: Incident = {
    "incident_id": "z:breaker_open:1",
    "zone_id": "z",
    "kind": "breaker_open",
    "level": "critical",
    "message": "the origin fails",
    "raised_at": 1.0,
    "resolved_at": None,
}


def read(version_id: str = "", **values: str) -> PreloadSettings:
    return PreloadSettings.from_variables(Variables(values.get), version_id)


def test_defaults():
    """Without variables there is no key and no webhook, and the free plan's subrequests are the limit."""
    expected = PreloadSettings(signing_keys=(), subrequests=PAID_SUBREQUESTS, webhook_url="", deployment="")
    assert read() == expected


def test_variables():
    """Both keys are valid, and DEPLOYMENT_ID comes before the version of the Worker."""
    settings = read(
        "v1", SIGNING_KEY="the-new-key-of-all", SIGNING_KEY_PREVIOUS="the-old-key-of-all", DEPLOYMENT_ID="d1"
    )
    assert (settings.signing_keys, settings.deployment) == (("the-new-key-of-all", "the-old-key-of-all"), "d1")
    assert read("v1").deployment == "v1"


def test_mistakes():
    """Every bad variable is named at once."""
    with pytest.raises(ConfigError, match=r"PRELOAD_SUBREQUESTS.*ALERT_WEBHOOK_URL"):
        read(PRELOAD_SUBREQUESTS="5", ALERT_WEBHOOK_URL="hooks.example.com")


@pytest.mark.parametrize(
    ("metadata", "version_id"),
    [(None, ""), ({}, ""), ({"id": "v1"}, "v1"), (SimpleNamespace(id="v1"), "v1"), (SimpleNamespace(id=None), "")],
)
def test_version_id(metadata: object, version_id: str):
    """The binding is a mapping or an object, and may be missing."""
    assert read_version_id(metadata) == version_id


class FakeWebhook:
    def __init__(self, status: int) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self._status = status

    async def __call__(self, url: str, **options: Any) -> FetchResponse:
        self.requests.append((url, options))
        return FetchResponse(url, self._status, (), b"")


async def test_webhook():
    """An alert is posted as JSON; a response that is no success is an error; without a URL nothing is sent."""
    fetch = FakeWebhook(204)
    await AlertWebhook("https://hooks.example.com/", fetch).post(ALERT)
    [(url, options)] = fetch.requests
    assert (url, options["method"], options["body"]) == (
        *("https://hooks.example.com/", "POST", encode_json(ALERT).encode()),
    )
    with pytest.raises(Unavailable, match="the webhook answered 500 to alert"):
        await AlertWebhook("https://hooks.example.com/", FakeWebhook(500)).post(ALERT)
    assert ("Idempotency-Key", "z:breaker_open:1") in options["headers"]
    await AlertWebhook("https://hooks.example.com/", fetch).post({**ALERT, "resolved_at": 2.0})
    assert ("Idempotency-Key", "z:breaker_open:1-resolved") in fetch.requests.pop()[1]["headers"]
    await AlertWebhook("", fetch).post(ALERT)
    assert len(fetch.requests) == 1


def test_uuid4():
    """Random digits become a UUID of version 4."""
    assert format_uuid4("0123456789abcdef0123456789abcdef") == "01234567-89ab-4def-8123-456789abcdef"


def test_short_keys():
    """A signing key that is short enough to be guessed counts as not set, and /health says so."""
    variables = Variables({"SIGNING_KEY": "fifteen-letters", "SIGNING_KEY_PREVIOUS": "sixteen-letters!"}.get)
    assert read_signing_keys(variables) == ("sixteen-letters!",)
    [(name, check)] = check_secrets(variables).items()
    assert (name, check.ok) == ("SIGNING_KEY", False)
    assert check.error == "SIGNING_KEY has fewer than 16 characters, so it counts as not set: choose a longer one"


def test_api_hosts():
    """The API answers below workers.dev and localhost, or where the operator says."""
    assert read_api_hosts(Variables(lambda _name: None)) == ("*.workers.dev", "*.localhost")
    assert read_api_hosts(Variables({"API_HOSTS": "Ops.Example.com, *.x.dev"}.get)) == ("ops.example.com", "*.x.dev")
