"""The variables of adblock-compiler."""

from dataclasses import dataclass
from typing import Self

from sluice.core.variables import Secret, Variables
from sluice.services.compiler.guard.turnstile import VERIFY_URL


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    admin_token: Secret
    alert_webhook_url: str
    allow_private_hosts: str
    health_recheck_delay_s: int
    health_sources: str
    list_source_timeout_s: int
    public_url: str
    published_lists: str
    rate_limit_max_requests: int
    rate_limit_window_s: int
    turnstile_secret: str
    turnstile_site_key: str
    turnstile_verify_url: str
    warm_configurations: str

    @property
    def is_turnstile_enabled(self) -> bool:
        return bool(self.turnstile_secret)

    @classmethod
    def read(cls, variables: Variables) -> Self:
        settings = cls(
            admin_token=variables.secret("ADMIN_TOKEN"),
            alert_webhook_url=variables.url("ALERT_WEBHOOK_URL"),
            allow_private_hosts=variables.text("ALLOW_PRIVATE_HOSTS"),
            health_recheck_delay_s=variables.integer("HEALTH_RECHECK_DELAY_S", 300, minimum=1, maximum=86_400),
            health_sources=variables.text("HEALTH_SOURCES"),
            list_source_timeout_s=variables.integer("LIST_SOURCE_TIMEOUT_S", 30, minimum=1, maximum=300),
            public_url=variables.url("PUBLIC_URL"),
            published_lists=variables.text("PUBLISHED_LISTS"),
            rate_limit_max_requests=variables.integer("RATE_LIMIT_MAX_REQUESTS", 10, minimum=1),
            rate_limit_window_s=variables.integer("RATE_LIMIT_WINDOW_S", 60, minimum=1, maximum=86_400),
            turnstile_secret=variables.text("TURNSTILE_SECRET_KEY"),
            turnstile_site_key=variables.text("TURNSTILE_SITE_KEY"),
            turnstile_verify_url=variables.url("TURNSTILE_VERIFY_URL") or VERIFY_URL,
            warm_configurations=variables.text("WARM_CONFIGURATIONS"),
        )
        variables.check()
        return settings
