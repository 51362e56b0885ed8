"""What is stored in KV: the names of the keys, who may write them, and the index of articles."""
