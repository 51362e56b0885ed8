"""HTTP as the platform has it: requests in, replies out, fetch, streams, WebSockets, the edge cache and assets."""
