"""The settings: defaults, mistakes, the version of the Worker, and the webhook."""

from types import SimpleNamespace
from typing import Any

import pytest

from sluice.core.errors import ConfigError, Unavailable
from sluice.core.ports import FetchResponse
from sluice.core.variables import Variables
from sluice.services.preload.zone.alerts import AlertWebhook
from sluice.services.preload.zone.settings import FREE_SUBREQUESTS, PreloadSettings, read_version_id


def read(metadata: object = None, **values: str) -> PreloadSettings:
    return PreloadSettings.from_variables(Variables(values.get), metadata)


def test_defaults():
    """Without variables there is no key and no webhook, and the free plan's subrequests are the limit."""
    expected = PreloadSettings(signing_keys=(), subrequests=FREE_SUBREQUESTS, webhook_url="", deployment="")
    assert read() == expected


def test_variables():
    """Both keys are valid, and DEPLOYMENT_ID comes before the version of the Worker."""
    settings = read({"id": "v1"}, SIGNING_KEY="new", SIGNING_KEY_PREVIOUS="old", DEPLOYMENT_ID="d1")
    assert (settings.signing_keys, settings.deployment) == (("new", "old"), "d1")
    assert read({"id": "v1"}).deployment == "v1"


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
    await AlertWebhook("https://hooks.example.com/", fetch).post({"kind": "breaker_open"})
    [(url, options)] = fetch.requests
    assert (url, options["method"], options["body"]) == (
        *("https://hooks.example.com/", "POST", b'{"kind": "breaker_open"}'),
    )
    with pytest.raises(Unavailable, match="the alert webhook answered 500"):
        await AlertWebhook("https://hooks.example.com/", FakeWebhook(500)).post({})
    await AlertWebhook("", fetch).post({})
    assert len(fetch.requests) == 1
