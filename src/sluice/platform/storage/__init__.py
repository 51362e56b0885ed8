"""Stores of bytes, text and rows: KV, D1 and R2."""
