"""The list of a zone's purges: kept by its object, read by every isolate that serves its pages."""
