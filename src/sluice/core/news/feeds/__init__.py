"""Where news comes from: two news services and any feed, all as articles of one shape."""
