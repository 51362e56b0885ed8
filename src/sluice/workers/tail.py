"""sluice-tail: its ports, made from the bindings."""

from typing import Any, Final

from sluice.platform.clock import SystemClock
from sluice.platform.http.transport import send_request
from sluice.platform.identity import generate_id
from sluice.platform.worker import open_kv, open_log, read_variables
from sluice.services.tail.service import TailPorts, TailService

NAME: Final = "sluice-tail"


def open_tail(env: Any, _ctx: Any) -> TailService:
    return TailService(
        TailPorts(
            variables=read_variables(env),
            logs=open_kv(env, "TAIL_LOGS"),
            transport=send_request,
            clock=SystemClock(),
            new_id=generate_id,
            log=open_log(NAME),
        )
    )
