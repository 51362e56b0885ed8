"""The sources of a list: downloaded, decoded, their directives followed."""
