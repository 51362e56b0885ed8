"""The settings of the three news Workers, read from their variables."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from sluice.core.errors import ConfigError
from sluice.core.variables import NO_SECRET, Secret, Variables

if TYPE_CHECKING:
    from sluice.core.news.feeds.word_filter import WordFilter

PROVIDERS: Final = ("newsdata", "apitube")
_NEWSDATA_URL: Final = "https://newsdata.io/api/1/crypto"
_APITUBE_URL: Final = "https://api.apitube.io/v1/news/everything"
# It keeps to a schema and does not spend its tokens on reasoning.
DEFAULT_MODEL: Final = "@cf/google/gemma-4-26b-a4b-it"
MAX_FEED_VARIABLES: Final = 10
# Short, so that the next minute's run continues after a crash.
DEFAULT_LEASE_S: Final = 20
FREE_NEURONS: Final = 10_000  # a day, on every plan
_YES: Final = frozenset({"1", "true", "yes", "on"})
_NO: Final = frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdaterSettings:
    """The settings of worker-news-updater."""

    provider: str
    newsdata_key: str
    newsdata_url: str
    apitube_key: str
    apitube_url: str
    feeds: tuple[str, ...]
    source_rules: Mapping[str, "WordFilter"] = field(default_factory=dict)
    max_pages: int
    max_article_age_days: int
    max_pending_list_size: int
    ttl_s: int
    lease_s: int
    admin_token: Secret
    allow_private_hosts: str

    @classmethod
    def read(cls, variables: Variables) -> Self:
        # Only the updater needs it.
        from sluice.core.news.feeds.word_filter import parse_source_rules  # noqa: PLC0415

        settings = cls(
            provider=variables.text("NEWS_PROVIDER", "newsdata"),
            newsdata_key=variables.text("NEWSDATA_API_KEY"),
            newsdata_url=variables.url("NEWSDATA_URL") or _NEWSDATA_URL,
            apitube_key=variables.text("APITUBE_API_KEY"),
            apitube_url=variables.url("APITUBE_URL") or _APITUBE_URL,
            feeds=tuple(_read_feeds(variables)),
            source_rules=parse_source_rules(variables.text("NEWS_SOURCE_RULES"), "NEWS_SOURCE_RULES"),
            max_pages=variables.integer("MAX_PAGES", 15, minimum=1, maximum=100),
            max_article_age_days=variables.integer("MAX_ARTICLE_AGE_DAYS", 30, minimum=1, maximum=36_500),
            max_pending_list_size=variables.integer("MAX_PENDING_LIST_SIZE", 500, minimum=1, maximum=5000),
            ttl_s=variables.integer("ID_INDEX_TTL", 2_592_000, minimum=60),
            lease_s=_lease_s(variables),
            admin_token=variables.secret("ADMIN_TOKEN"),
            allow_private_hosts=variables.text("ALLOW_PRIVATE_HOSTS"),
        )
        variables.check()
        if settings.provider not in PROVIDERS:
            raise ConfigError(f"NEWS_PROVIDER must be one of {', '.join(PROVIDERS)}, not {settings.provider!r}")
        if odd := [each for each in settings.feeds if not each.startswith(("http://", "https://"))]:
            raise ConfigError(
                f"NEWS_FEEDS must be a list of addresses separated by commas; {odd[0]!r} is not an address"
            )
        if unknown := settings.source_rules.keys() - set(settings.feeds):
            raise ConfigError(f"NEWS_SOURCE_RULES has rules for {min(unknown)!r}, which is not in NEWS_FEEDS")
        return settings


def _read_feeds(variables: Variables) -> Iterator[str]:
    """Yield the feeds of all variables: one holds 5 KB, about a hundred addresses; NEWS_FEEDS_2 to NEWS_FEEDS_10 hold more."""
    names = ("NEWS_FEEDS", *(f"NEWS_FEEDS_{number}" for number in range(2, MAX_FEED_VARIABLES + 1)))
    for name in names:
        yield from (each.strip() for each in variables.text(name).split(",") if each.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorSettings:
    """The settings of worker-news-processor."""

    max_articles_per_run: int = 1
    max_stored_articles: int = 500
    max_pending_list_size: int = 500
    max_content_chars: int = 10_240
    max_attempts: int = 5
    delete_old_articles: bool = False
    ttl_s: int = 2_592_000
    retry_delay_s: int = 60
    lease_s: int = DEFAULT_LEASE_S
    ai_model: str = DEFAULT_MODEL
    ai_daily_neurons: int = FREE_NEURONS
    admin_token: Secret = NO_SECRET
    allow_private_hosts: str = ""

    @classmethod
    def read(cls, variables: Variables) -> Self:
        settings = cls(
            max_articles_per_run=variables.integer("MAX_ARTICLES_PER_RUN", 1, minimum=1, maximum=50),
            max_stored_articles=variables.integer("MAX_STORED_ARTICLES", 500, minimum=1, maximum=5000),
            max_pending_list_size=variables.integer("MAX_PENDING_LIST_SIZE", 500, minimum=1, maximum=5000),
            max_content_chars=variables.integer("MAX_CONTENT_CHARS", 10_240, minimum=200, maximum=100_000),
            max_attempts=variables.integer("MAX_CONTENT_FETCH_ATTEMPTS", 5, minimum=1, maximum=50),
            delete_old_articles=_flag(variables, "DELETE_OLD_ARTICLES"),
            ttl_s=variables.integer("ID_INDEX_TTL", 2_592_000, minimum=60),
            retry_delay_s=variables.integer("RETRY_DELAY_S", 60, minimum=0),
            lease_s=_lease_s(variables),
            ai_model=variables.text("AI_MODEL", DEFAULT_MODEL),
            ai_daily_neurons=variables.integer("AI_DAILY_NEURONS", FREE_NEURONS, minimum=0),
            admin_token=variables.secret("ADMIN_TOKEN"),
            allow_private_hosts=variables.text("ALLOW_PRIVATE_HOSTS"),
        )
        variables.check()
        return settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSettings:
    """The settings of worker-api."""

    cors_origins: tuple[str, ...]
    public_url: str
    alert_webhook_url: str = ""
    admin_token: Secret = NO_SECRET
    allow_private_hosts: str = ""

    @classmethod
    def read(cls, variables: Variables) -> Self:
        origins = tuple(each.strip() for each in variables.text("CORS_ORIGINS", "*").split(",") if each.strip())
        settings = cls(
            cors_origins=origins,
            public_url=variables.url("PUBLIC_URL"),
            alert_webhook_url=variables.url("ALERT_WEBHOOK_URL"),
            admin_token=variables.secret("ADMIN_TOKEN"),
            allow_private_hosts=variables.text("ALLOW_PRIVATE_HOSTS"),
        )
        variables.check()
        return settings


def _lease_s(variables: Variables) -> int:
    """Return how long a run lease lasts. A run renews its lease while it works; after a crash no run starts until the lease expires."""
    return variables.integer("RUN_LEASE_S", DEFAULT_LEASE_S, minimum=1, maximum=3600)


def _flag(variables: Variables, name: str) -> bool:
    text = variables.text(name).lower()
    if text not in _YES | _NO:
        raise ConfigError(f"{name} must be true or false, not {text!r}")
    return text in _YES
