"""What worker-api serves: articles and stories, found, counted and syndicated."""
