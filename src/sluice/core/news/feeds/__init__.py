"""Sources of news: two news services and any RSS or Atom feed, all read into articles of one shape."""
