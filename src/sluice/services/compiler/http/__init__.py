"""The HTTP interface of adblock-compiler."""
