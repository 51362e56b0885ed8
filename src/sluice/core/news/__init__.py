"""Articles, the checkpoint and its transitions, feeds, extraction, analysts and stories."""
