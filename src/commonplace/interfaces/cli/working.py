"""Commands for working memory: blocks and sessions."""

from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.domain.values import Block, Message, SessionInfo
from commonplace.interfaces.cli.keeping import Words
from commonplace.interfaces.cli.opening import open_memory, text_of
from commonplace.interfaces.cli.options import OfSession, OfUser
from commonplace.interfaces.cli.output import Output
from commonplace.interfaces.cli.times import shown

if TYPE_CHECKING:
    from commonplace.interfaces.cli.screen import Screen

Name = Annotated[str, typer.Argument(metavar="NAME", help="The block's name.")]


def list_blocks(call: OfUser) -> None:
    """List the blocks, in their order."""
    with open_memory(call) as memory:
        blocks = memory.blocks(user=call.user)
    Output(call).answer(blocks, lambda screen: _tell_blocks(screen, blocks))


def _tell_blocks(screen: "Screen", blocks: list[Block]) -> None:
    if not blocks:
        screen.say("No blocks.")
        return
    rows = [[block.name, block.text, shown(block.updated_at)] for block in blocks]
    screen.table(["name", "text", "changed"], rows, fixed=["name", "changed"])


def set_block(
    call: OfUser,
    name: Name,
    text: Words,
    order: Annotated[int | None, typer.Option(help="Its place. Without it: where it is, or the end.")] = None,
) -> None:
    """Write a block."""
    with open_memory(call) as memory:
        block = memory.set_block(name, text_of(text), user=call.user, order=order)
    _answer(call, block)


def append_block(call: OfUser, name: Name, text: Words) -> None:
    """Add a line to a block."""
    with open_memory(call) as memory:
        block = memory.append_block(name, text_of(text), user=call.user)
    _answer(call, block)


def _answer(call: OfUser, block: Block) -> None:
    Output(call).answer(block, lambda screen: _tell_blocks(screen, [block]))


def delete_block(call: OfUser, name: Name) -> None:
    """Delete a block."""
    with open_memory(call) as memory:
        memory.delete_block(name, user=call.user)
    Output(call).answer({"deleted": name}, lambda screen: screen.say(f"Deleted {name}."))


def sessions(
    call: OfSession, limit: Annotated[int, typer.Option("--limit", "-n", help="At most so many messages.")] = 20
) -> None:
    """List the active sessions. With --session: its last messages."""
    output = Output(call)
    with open_memory(call) as memory:
        if call.session is not None:
            messages = list(memory.messages(session=call.session, user=call.user, limit=limit))
            output.answer(messages, lambda screen: _tell_messages(screen, messages))
            return
        active = memory.sessions(user=call.user)
    output.answer(active, lambda screen: _tell_sessions(screen, active))


def _tell_messages(screen: "Screen", messages: list[Message]) -> None:
    if not messages:
        screen.say("No messages.")
        return
    rows = [[shown(message.at), message.name or message.role, message.text, message.id] for message in messages]
    screen.table(["when", "who", "text", "id"], rows, fixed=["when", "who"])


def _tell_sessions(screen: "Screen", active: list[SessionInfo]) -> None:
    if not active:
        screen.say("No active sessions.")
        return
    rows = [
        [session.id, str(session.messages), shown(session.started_at), shown(session.last_seen)] for session in active
    ]
    screen.table(["session", "messages", "started", "last seen"], rows, fixed=["messages", "started", "last seen"])
