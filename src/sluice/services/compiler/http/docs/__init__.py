"""The API documentation of adblock-compiler."""
