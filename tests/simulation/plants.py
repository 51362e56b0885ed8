"""A defect to plant: its name, and the texts to replace in files below `src/sluice`."""

from typing import NamedTuple


class Plant(NamedTuple):
    name: str
    scenario: str
    # File, old text, new text.
    patches: tuple[tuple[str, str, str], ...]
