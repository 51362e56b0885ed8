// All keys of a zone's configuration with their labels, hints and controls. The service validates the values.

const bool = (key, label, hint) => ({ key, label, hint, kind: "bool" });
const whole = (key, label, min, max, hint) => ({ key, label, hint, kind: "number", min, max });
const text = (key, label, hint) => ({ key, label, hint, kind: "text" });
const lines = (key, label, hint) => ({ key, label, hint, kind: "lines" });
const choice = (key, label, choices, hint) => ({ key, label, hint, kind: "choice", choices });
// One "name number" on each line, for an object of numbers.
const pairs = (key, label, hint) => ({ key, label, hint, kind: "pairs" });

export const GROUPS = [
  ["Site", [
    text("site_url", "Address of the site", "Scheme and host only, such as https://www.example.com"),
    lines("hosts", "Other hosts", "One per line, such as example.com"),
    { ...text("origin_url", "Address of the origin", "Where pages are fetched, if not from the address of the site"), optional: true },
    { ...text("origin_cron_path", "Timer of the origin", "A path that is called every minute, such as /wp-cron.php"), optional: true },
    whole("origin_timeout_s", "Wait for the origin, in seconds", 1, 600, "1 to 600; for a visitor whose page has no copy"),
  ]],
  ["Triggers", [
    bool("preload_enabled", "Preload is on"),
    bool("preload_post_purge", "Preload pages again after a purge"),
    bool("preload_on_deployment", "Preload the site after a deployment"),
    bool("preload_sitemap_crawl_enabled", "Crawl the sitemap once a day"),
    whole("preload_schedule_interval_s", "Schedule interval, in seconds", 60, 2592000, "60 to 2,592,000"),
    text("preload_sitemap_url", "Address of the sitemap", "{site_url} is replaced by the address of the site"),
  ]],
  ["Speed", [
    whole("preload_max_concurrency", "Concurrent requests", 1, 32, "1 to 32"),
    whole("preload_rps_limit", "Requests per second", 1, 1000, "1 to 1,000"),
    whole("preload_rpm_limit", "Requests per minute", 1, 60000, "1 to 60,000"),
  ]],
  ["Queue and failures", [
    whole("preload_queue_max_depth", "Maximum queue length", 1, 1000000, "1 to 1,000,000; above it, pages with the lowest priority are dropped"),
    choice("preload_queue_backend", "Mirror of the queue", ["kv", "durable-object"], "kv: up to 1,000 pages are also readable in KV; durable-object: no mirror"),
    whole("preload_retry_max", "Retries", 0, 10, "0 to 10"),
    whole("preload_circuit_breaker_threshold", "Consecutive failures that open the circuit breaker", 1, 100, "1 to 100"),
    whole("preload_circuit_breaker_max_backoff_s", "Maximum backoff of the circuit breaker, in seconds", 30, 86400, "30 to 86,400"),
  ]],
  ["Cache", [
    choice("cache_enabled", "Answer visitors from copies", ["true", "false", "observe"], "observe: the origin answers, and pages that differ between visitors are listed"),
    bool("cache_device_variants", "Separate copies for phones and other devices"),
    choice("cache_tier", "Tier", ["aggressive", "standard", "conservative", "minimal"], "How long pages stay fresh"),
    whole("cache_stale_while_revalidate_s", "Stale-while-revalidate, in seconds", 0, 2592000),
    whole("cache_stale_if_error_s", "Stale-if-error, in seconds", 0, 2592000),
    choice("cache_trailing_slash", "Trailing slash of a path", ["keep", "add", "strip"]),
    lines("cache_ignored_params", "Ignored query parameters", "One per line; a * at the end matches anything"),
    lines("cache_kept_params", "Query parameters that are kept", "One per line; if there are any, all others are ignored"),
    lines("cache_bypass_params", "Query parameters that only the origin answers", "One per line; a * at the end matches anything"),
    lines("cache_bypass_cookies", "Cookies that only the origin answers", "One per line; a * at the end matches anything"),
    lines("cache_include_paths", "Paths that may be stored", "One per line, such as /blog/*; all if empty"),
    lines("cache_exclude_paths", "Paths that are never stored", "One per line, such as /account/*"),
    pairs("cache_ttl_by_path", "Freshness by path", "A path and seconds on each line, such as /news/* 60"),
    lines("cache_languages", "Languages with separate copies", "One per line, such as de or pt-br"),
    lines("cache_vary_headers", "Request headers with separate copies", "One per line, at most 5"),
    whole("cache_max_query_variants", "Stored queries of one path", 0, 10000, "0 to 10,000; other queries are kept at the edge only"),
    whole("cache_purge_delay_s", "Delay of a purge, in seconds", 1, 300, "1 to 300; after it no data centre serves what was purged"),
  ]],
];
