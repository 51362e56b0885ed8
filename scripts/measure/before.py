"""Figures of the first version of the services, measured once by the same commands, to be printed beside today's."""

from typing import Final

# Processor time of the imports, in probes.
STARTUP_PROBES: Final = {
    "adblock-compiler": 2.18,
    "edge-preload": 1.83,
    "sluice-tail": 1.30,
    "worker-api": 1.83,
    "worker-news-processor": 1.89,
    "worker-news-updater": 1.91,
}
# Processor time of a request, in hellos.
REQUEST_HELLOS: Final = {
    "cached list": 5.5,
    "edge hit": 2.6,
    "news page": 86.0,
    "idle preload minute": 5.4,
    "idle news minute": 7.7,
}
# What one unit of work took; an operation that is not named here was not counted then.
UNITS: Final[dict[str, dict[str, float]]] = {
    "list hit": {"kv_reads": 1, "d1_queries": 2.5, "d1_rows_written": 4},
    "list miss": {"d1_queries": 3.5, "d1_rows_written": 5.5},
    "job": {"kv_writes": 5.5, "d1_queries": 19, "d1_rows_written": 22},
    "hourly cron": {"kv_writes": 2.5, "d1_queries": 98, "d1_rows_written": 97},
    "six-hourly warming": {"kv_writes": 6, "d1_queries": 37, "d1_rows_written": 37},
    "idle preload minute": {"kv_reads": 1, "kv_lists": 1},
    "page warmed": {"object_rows_written": 28.7, "d1_rows_written": 6, "d1_queries": 4.1},
    "hourly news update": {"kv_writes": 2, "object_rows_read": 6028, "object_rows_written": 11.5},
    "article": {"object_rows_read": 17_122, "object_rows_written": 541.5},
    "idle news minute": {"kv_writes": 1, "object_requests": 2, "object_rows_written": 2},
    "API request": {"kv_reads": 501},
}
