"""GET /ws/compile: compilations over a WebSocket."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from sluice.core.compiler.configuration import parse_configuration
from sluice.core.compiler.events import Emit
from sluice.core.errors import TooLarge
from sluice.core.ports import Clock, Log, NewId
from sluice.services.compiler.cache.compile_order import CompileOrder
from sluice.services.compiler.cache.compiled_list import FilterList
from sluice.services.compiler.cache.list_compiler import ListCompiler
from sluice.services.compiler.guard.guard import Guard
from sluice.services.compiler.live.conversation import Conversation, Socket
from sluice.services.compiler.live.open_sockets import MAX_OPEN, OpenSocket, OpenSockets
from sluice.services.compiler.live.socket_messages import SocketCompileMessage
from sluice.web import Reply, Request, build_problem
from sluice.web.clients import find_client
from sluice.web.operations import Operation, ReplyDoc, describe

MAX_RESULT_BYTES: Final = 4_000_000

Talk = Callable[[Socket], Awaitable[None]]
# Returns the reply that opens a socket, and runs the talk on it.
AcceptSocket = Callable[[Talk], Reply]


CONNECT: Final = Operation(
    "openCompileSocket",
    "Compile lists over a WebSocket",
    {101: ReplyDoc("The connection becomes a WebSocket.")},
    'Send JSON objects: `{"type": "compile", "sessionId", "configuration", "preFetchedContent"?}`, '
    '`{"type": "cancel", "sessionId"}`, `{"type": "ping"}`. Three compilations may run at once, and a client may have '
    f"{MAX_OPEN} sockets open.",
    tag="Compile",
    problems=(426, 429),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketApi:
    """Serves GET /ws/compile. `guard` charges each compilation, `connections` each connection: an open one costs memory."""

    open_socket: AcceptSocket
    open_sockets: OpenSockets
    guard: Guard
    connections: Guard
    compiler: ListCompiler
    clock: Clock
    log: Log
    new_id: NewId
    version: str

    @describe(CONNECT)
    async def connect(self, request: Request) -> Reply:
        """Open a WebSocket, or explain how to ask for one."""
        if not is_upgrade(request):
            return build_problem(
                426,
                "Upgrade required",
                "this address speaks WebSocket only: send Upgrade: websocket",
                instance=request.path,
                headers={"Upgrade": "websocket"},
            )
        await self.connections.charge(request)
        client = find_client(request.client_ip).key
        counted = self.open_sockets.admit(client, self.clock.now())
        try:
            return self.open_socket(partial(self._converse, request, client, counted))
        except BaseException:
            self.open_sockets.release(client, counted)
            raise

    async def _converse(self, request: Request, client: str, counted: OpenSocket, socket: Socket) -> None:
        def keep_counted() -> None:
            counted.seen_at = self.clock.now()

        conversation = Conversation(
            socket,
            compile_list=partial(compile_for_socket, self.compiler, client),
            admit=partial(self.guard.check_message, request),
            clock=self.clock,
            log=self.log,
            connection=f"ws-{round(self.clock.now() * 1000)}-{self.new_id()}",
            version=self.version,
            on_heartbeat=keep_counted,
        )
        try:
            await conversation.run()
        finally:
            self.open_sockets.release(client, counted)


def is_upgrade(request: Request) -> bool:
    """Return whether the request asks for a WebSocket."""
    return request.headers.get("upgrade", "").strip().lower() == "websocket"


async def compile_for_socket(
    compiler: ListCompiler, client: str, request: SocketCompileMessage, emit: Emit
) -> FilterList:
    """Compile anew, and store the list, unless it is made from the caller's own content."""
    order = CompileOrder.of(request, parse_configuration(request.configuration), trigger="socket")
    order = replace(order, client=client)
    compiled = await compiler.compile(order, emit=emit)
    if not order.is_for_caller_alone:
        await compiler.try_store(compiled, order.ttl_s)
    if compiled.members.size > MAX_RESULT_BYTES:
        raise TooLarge(f"the list is longer than {MAX_RESULT_BYTES:,} bytes, the limit of a message: use POST /compile")
    return compiled.reply_members()
