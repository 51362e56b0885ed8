"""Filter lists: the language, the transformations in their fixed order, and why a line was dropped.

Pure functions over lists of lines. `pipeline` is the way in; each transformation is one module that offers
`apply` (lines in, lines out) and `trace` (the same, with where each line came from and why others went).
"""
