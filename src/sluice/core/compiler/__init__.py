"""The compiler of filter lists: a configuration and its sources in, one list out."""
