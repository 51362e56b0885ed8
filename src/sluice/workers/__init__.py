"""Each service put together from its feature package and its bindings; the only modules that know both."""
