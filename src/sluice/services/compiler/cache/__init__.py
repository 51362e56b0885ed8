"""Compiled lists: compiled once for all equal requests, compressed once, cached and served."""
