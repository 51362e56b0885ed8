"""Warms a site's edge and R2 cache before its visitors come, and serves what was warmed."""
