"""Flights through a Durable Object per configuration: whoever asks anywhere at the same time shares one compilation."""

import json
from typing import Any, Final

from sluice.core.compiler.configuration import Configuration, parse_configuration
from sluice.core.errors import SluiceError, Unavailable
from sluice.core.ports import Log
from sluice.core.remote_errors import decode_error, encode_error
from sluice.platform.durable_objects import DurableObjects
from sluice.services.compiler.cache.cache import cache_key
from sluice.services.compiler.cache.compilations import Compilations
from sluice.services.compiler.cache.single_flight import Flown, Form, SingleFlight, find

# A call between Workers carries 32 MiB; what is larger is read from the cache.
MAX_CARRIED_BYTES: Final = 30 * 1024 * 1024


class ObjectFlights:
    """The caller's side."""

    def __init__(self, objects: DurableObjects, compilations: Compilations, log: Log) -> None:
        self._objects = objects
        self._compilations = compilations
        self._log = log

    async def __call__(self, configuration: Configuration, *, form: Form, ttl_s: int, path: str) -> Flown:
        key = cache_key(configuration)
        given = configuration.model_dump_json(exclude_unset=True)
        try:
            told = await self._objects.get(key).take(given, form, ttl_s, path)
        except SluiceError as error:
            # The object itself cannot be reached: better twice than not at all.
            self._log.error("flight.alone", error, list=configuration.name)
            return await SingleFlight(self._compilations).take(configuration, form=form, ttl_s=ttl_s, path=path)
        if "failed" in told:
            raise decode_error(told["failed"])
        flown = Flown.from_json(told)
        if flown.file or form == "summary":
            return flown
        found = await find(self._compilations.cache, key, form)
        if found is None:
            raise Unavailable("the list is too large to be carried, and not in the cache yet; try again in a minute")
        return found


async def take_in_object(flight: SingleFlight, given: str, form: Form, ttl_s: int, path: str) -> dict[str, Any]:
    """The object's side; a failed compilation is told as a value, so that it is not taken for a failure of the object."""
    try:
        flown = await flight.take(parse_configuration(json.loads(given)), form=form, ttl_s=ttl_s, path=path)
    except SluiceError as error:
        return {"failed": encode_error(error)}
    told = flown.as_json()
    if len(told.get("content", b"")) > MAX_CARRIED_BYTES:
        del told["content"], told["about"]
    return told
