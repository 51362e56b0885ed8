"""What worker-api serves: articles and stories, filtered, paged, counted and syndicated."""
