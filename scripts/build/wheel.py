"""Makes what a wheel needs and git does not have: the modules of the phrases. The build backend calls it."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))


class PhrasesHook(BuildHookInterface[Any]):
    """Write the modules before the files of the package are chosen."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - the backend's signature
        from phrases import write_modules  # noqa: PLC0415 - found by the line above

        write_modules()
