"""The compilation service: a configuration and its sources in, one clean filter list out."""
