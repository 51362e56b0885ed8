"""Addresses that may be fetched, and the guarded fetch that asks for them."""
