// Every key of a zone's configuration: what it is called, what it means, how it is typed. What fits, the service decides.

const bool = (key, label, hint) => ({ key, label, hint, kind: "bool" });
const whole = (key, label, min, max, hint) => ({ key, label, hint, kind: "number", min, max });
const text = (key, label, hint) => ({ key, label, hint, kind: "text" });
const lines = (key, label, hint) => ({ key, label, hint, kind: "lines" });
const choice = (key, label, choices, hint) => ({ key, label, hint, kind: "choice", choices });

export const GROUPS = [
  ["Site", [
    text("site_url", "Address of the site", "Scheme and host alone"),
    lines("hosts", "Other hosts", "One per line, such as example.com"),
    { ...text("origin_url", "Address of the origin", "Where pages are fetched, if not at the site's own address"), optional: true },
  ]],
  ["When", [
    bool("preload_enabled", "Preload is on"),
    bool("preload_post_purge", "Warm again what was purged"),
    bool("preload_on_deployment", "Warm the site after a deployment"),
    bool("preload_sitemap_crawl_enabled", "Crawl the sitemap once a day"),
    whole("preload_schedule_interval_s", "Schedule, every … seconds", 60, 2592000, "60 to 2,592,000"),
    text("preload_sitemap_url", "Address of the sitemap", "{site_url} stands for the address of the site"),
  ]],
  ["How fast", [
    whole("preload_max_concurrency", "Requests at once", 1, 32, "1 to 32"),
    whole("preload_rps_limit", "Requests in a second", 1, 1000, "1 to 1,000"),
    whole("preload_rpm_limit", "Requests in a minute", 1, 60000, "1 to 60,000"),
  ]],
  ["Queue and failures", [
    whole("preload_queue_max_depth", "Longest queue", 1, 1000000, "1 to 1,000,000; beyond it the lowest priority is dropped"),
    choice("preload_queue_backend", "Queue is mirrored", ["kv", "durable-object"], "kv: readable in KV too, up to 1,000 pages; durable-object: not mirrored"),
    whole("preload_retry_max", "Retries", 0, 10, "0 to 10"),
    whole("preload_circuit_breaker_threshold", "Failures in a row that open the breaker", 1, 100, "1 to 100"),
    whole("preload_circuit_breaker_max_backoff_s", "Longest pause of the breaker, in seconds", 30, 86400, "30 to 86,400"),
  ]],
  ["Cache", [
    bool("cache_device_variants", "One copy for phones, one for the rest"),
    choice("cache_tier", "Tier", ["aggressive", "standard", "conservative", "minimal"], "How long pages stay fresh"),
    whole("cache_stale_while_revalidate_s", "Stale while revalidating, in seconds", 0, 86400),
    whole("cache_stale_if_error_s", "Stale if the origin fails, in seconds", 0, 2592000),
    choice("cache_trailing_slash", "Slash at the end of a path", ["keep", "add", "strip"]),
    lines("cache_ignored_params", "Query parameters that make no other page", "One per line; a * at the end stands for anything"),
    lines("cache_languages", "Languages with copies of their own", "One per line, such as de or pt-br"),
  ]],
];
