"""Lists that people subscribe to: what may be named, when it is rebuilt, what counts as a version, and its texts."""
