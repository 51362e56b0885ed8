"""The compiler as a service: cache, jobs, workflows, limits, events and the HTTP interface over the compiler core."""
