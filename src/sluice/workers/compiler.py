"""adblock-compiler: its ports, made from the bindings. What is bound is looked up when it is used."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from sluice.platform.analytics import Analytics
from sluice.platform.background import run_in_background
from sluice.platform.bindings import LazyBinding, require_binding
from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import Alarm, DurableObjects, ObjectStub, Sql, erase_storage
from sluice.platform.http.assets import Assets
from sluice.platform.http.streams import discard_stream, inflate_stream
from sluice.platform.http.transport import send_request
from sluice.platform.identity import generate_id
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.r2 import R2
from sluice.platform.worker import open_kv, open_log, read_variables, to_js_object
from sluice.services.compiler.parts import CompilerObject, IsolateMemory
from sluice.services.compiler.ports import CompilerPorts, ObjectPorts
from sluice.services.compiler.service import CompilerService

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sluice.core.remote import Send
    from sluice.platform.queues import Producer
    from sluice.platform.workflows import Workflows
    from sluice.services.compiler.live.socket_api import Talk
    from sluice.services.compiler.requests import Priority
    from sluice.web import Reply

NAME: Final = "adblock-compiler"
_CLOCK: Final = SystemClock()
_MEMORY: Final = IsolateMemory.begin(_CLOCK)
_QUEUES: Final = {"high": "ADBLOCK_COMPILER_QUEUE_HIGH_PRIORITY", "standard": "ADBLOCK_COMPILER_QUEUE"}


def open_compiler(env: Any, ctx: Any) -> CompilerService:
    """Return the service of an invocation."""
    return CompilerService(open_ports(env, ctx), _MEMORY)


def open_object(env: Any, ctx: Any) -> CompilerObject:
    """Return what a Durable Object does; `ctx` is its state."""
    storage = ctx.storage
    return CompilerObject(
        open_ports(env, ctx), _MEMORY, ObjectPorts(Sql(storage), Alarm(storage), partial(erase_storage, storage))
    )


def open_ports(env: Any, ctx: Any) -> CompilerPorts:
    def send_to(name: str) -> Callable[[str], Send]:
        return DurableObjects(LazyBinding(env, name)).send_to

    log = open_log(NAME)
    return CompilerPorts(
        variables=read_variables(env),
        database=D1(LazyBinding(env, "DB")),
        bucket=R2(LazyBinding(env, "FILTER_STORAGE")),
        compilation_cache=open_kv(env, "COMPILATION_CACHE"),
        metrics=open_kv(env, "METRICS"),
        rate_limit=open_kv(env, "RATE_LIMIT"),
        analytics=Analytics(LazyBinding(env, "ANALYTICS_ENGINE"), log, to_js_object),
        files=Assets(env),
        send_to_compilation=send_to("COMPILATIONS"),
        send_to_rate_limit=send_to("RATE_LIMITER"),
        send_to_sweeper=send_to("JOB_SWEEPER"),
        open_queue=partial(_open_queue, env),
        open_instances=partial(_open_instances, env),
        open_socket=partial(_open_socket, ctx),
        # The cache before the Worker can be purged only by its entry point.
        purge=ObjectStub(lambda: require_binding(env, "SELF"), NAME).purge_copies,
        load_lists_file=_load_lists_file,
        inflate=inflate_stream,
        discard=discard_stream,
        transport=send_request,
        background=partial(run_in_background, ctx),
        clock=_CLOCK,
        draw=random.random,
        new_id=generate_id,
        log=log,
    )


async def purge_copies(ctx: Any, tags: Sequence[str]) -> bool:
    """Remove the copies with these tags, for the build of a list, which calls it through the entry point."""
    from sluice.platform.public_cache import open_public_cache

    await open_public_cache(ctx).purge(tags)
    return True


# Rare, so their modules do not delay the start of the Worker.
def _open_queue(env: Any, priority: Priority) -> Producer:
    from sluice.platform.queues import Producer

    return Producer(LazyBinding(env, _QUEUES[priority]))


def _open_instances(env: Any, kind: str) -> Workflows:
    from sluice.platform.workflows import Workflows

    return Workflows(LazyBinding(env, f"{kind.upper().replace('-', '_')}_WORKFLOW"))


def _open_socket(ctx: Any, talk: Talk) -> Reply:
    from sluice.platform.http.sockets import open_socket

    return open_socket(talk, ctx)


def _load_lists_file() -> str:
    from sluice.workers.declared_lists import LISTS_FILE

    return LISTS_FILE
