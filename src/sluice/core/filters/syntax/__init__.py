"""The syntax of filter lists: lines, rules, hostnames, IP patterns and public suffixes."""
