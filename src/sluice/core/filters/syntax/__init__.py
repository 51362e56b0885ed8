"""The syntax of filter lists: what a line, a rule, a host name is."""
