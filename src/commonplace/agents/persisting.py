"""After the run: what the state proposes goes the way of everything that is learned."""

from dataclasses import dataclass, field

from commonplace.agents.state import MemoryState
from commonplace.domain.errors import CommonplaceError
from commonplace.domain.values import FactChange, FactId, MessageId
from commonplace.memory import AsyncMemory


@dataclass(slots=True)
class Written:
    changes: list[FactChange] = field(default_factory=list)
    forgotten: list[FactId] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What could not be written, and why: the reply has been given, so it is told and not raised."""


async def persist(memory: AsyncMemory, state: MemoryState, message: MessageId | None, *, by: str) -> Written:
    """Write what a run that ended well has proposed. `message` is the user's, in which each update must be grounded."""
    written = Written()
    if state.updates and message is not None:
        await _learn(memory, state, message, by, written)
    for fact in state.forget:
        try:
            await memory.forget(fact=fact, user=state.user)
        except CommonplaceError as error:
            written.notes.append(f"not forgotten: {error}")
        else:
            written.forgotten.append(fact)
    for name, text in state.blocks.items():
        try:
            await memory.set_block(name, text, user=state.user)
        except CommonplaceError as error:
            written.notes.append(f"block {name!r} not written: {error}")
        else:
            written.blocks.append(name)
    return written


async def _learn(memory: AsyncMemory, state: MemoryState, message: MessageId, by: str, written: Written) -> None:
    try:
        added = await memory.propose(message, [update.proposal() for update in state.updates], user=state.user, by=by)
    except CommonplaceError as error:
        written.notes.append(f"what the agent proposed was not learned: {error}")
    else:
        written.changes += added.changes
        written.notes += added.notes
