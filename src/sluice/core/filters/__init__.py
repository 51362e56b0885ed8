"""The language of filter lists: its syntax, the transformations in their fixed order, and exclusion patterns.

Pure functions over lists of lines. Start with `pipeline`. Each transformation is one module with two methods:
`apply` returns the lines, `trace` returns the same lines with their origins and the reason for each dropped line.
"""
