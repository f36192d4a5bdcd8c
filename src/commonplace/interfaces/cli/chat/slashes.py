"""What begins with a slash: commands within the chat. A number stands for a line of the last list."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from commonplace.domain.errors import CommonplaceError, InvalidInput, NotFound
from commonplace.domain.values import Fact, FactVersion, Recalled
from commonplace.interfaces.cli.chat.display import Display
from commonplace.interfaces.cli.times import shown
from commonplace.memory import AsyncMemory

HELP = {
    "/recall QUERY": "find what is remembered about something",
    "/facts": "list the facts that hold",
    "/why N": "show where a fact of the last list came from",
    "/forget N": "erase a fact or message of the last list, for good",
    "/blocks [NAME TEXT]": "list the texts that are always in the prompt, or write one",
    "/session": "show this session and the others",
    "/help": "show this",
    "/quit": "leave; everything is kept",
}
LISTED = 20


@dataclass(slots=True)
class Slashes:
    memory: AsyncMemory
    display: Display
    user: str | None
    session: str
    listed: list[tuple[str, str]] = field(default_factory=list)
    """Kind and id of the lines of the last list."""

    async def run(self, line: str) -> None:
        """Run one command. What is wrong with it is told, and the chat goes on."""
        name, _, rest = line.partition(" ")
        commands: Mapping[str, Callable[[str], Awaitable[None]]] = {
            "/recall": self._recall,
            "/facts": self._facts,
            "/why": self._why,
            "/forget": self._forget,
            "/blocks": self._blocks,
            "/session": self._session,
            "/help": self._help,
        }
        if name not in commands:
            self.display.failed("WrongUse", f"{name}: there is no such command; /help lists them")
            return
        try:
            await commands[name](rest.strip())
        except CommonplaceError as error:
            self.display.failed(type(error).__name__, str(error))

    async def _recall(self, query: str) -> None:
        found = await self.memory.recall(query, user=self.user, limit=LISTED)
        self.listed = [(item.kind, item.id) for item in found]
        lines = [f"{n:>3}  {item.score:.2f}  {_said(item)}" for n, item in enumerate(found, 1)]
        self.display.answer("/recall", found, lines or ["Nothing relevant."])

    async def _facts(self, _: str) -> None:
        facts = list(await self.memory.facts(user=self.user, limit=LISTED))
        self.listed = [(fact.kind, fact.id) for fact in facts]
        lines = [f"{n:>3}  {fact.text}{_since(fact)}" for n, fact in enumerate(facts, 1)]
        self.display.answer("/facts", facts, lines or ["No facts yet."])

    async def _why(self, which: str) -> None:
        kind, one = self._meant(which)
        if kind == "message":
            message = await self.memory.message(one, user=self.user)
            self.display.answer("/why", message, [f"{shown(message.at)}  {message.role}: {message.text}"])
            return
        versions = await self.memory.history(one, user=self.user)
        self.display.answer("/why", versions, await self._story(versions))

    async def _story(self, versions: Sequence[FactVersion]) -> list[str]:
        lines: list[str] = []
        for version in versions:
            for change in version.changes:
                lines.append(f"{shown(change.at)}  {change.change}: {version.text}")
                if change.message is not None:
                    lines.append(f"    because of {await self._words(change.message)}")
                if change.reason:
                    lines.append(f"    {change.reason}")
        return lines

    async def _words(self, message: str) -> str:
        try:
            return f"“{(await self.memory.message(message, user=self.user)).text}”"
        except NotFound:
            return "a message that was forgotten"

    async def _forget(self, which: str) -> None:
        kind, one = self._meant(which)
        named = {"message": one} if kind == "message" else {"fact": one}
        receipt = await self.memory.forget(**named, user=self.user)  # type: ignore[arg-type]
        self.listed = []
        self.display.answer("/forget", receipt, [f"Forgotten, and gone from every store: {kind} {one}."])

    async def _blocks(self, rest: str) -> None:
        name, _, text = rest.partition(" ")
        if text.strip():
            await self.memory.set_block(name, text.strip(), user=self.user)
        blocks = await self.memory.blocks(user=self.user)
        self.display.answer("/blocks", blocks, [f"{one.name}: {one.text}" for one in blocks] or ["No blocks."])

    async def _session(self, _: str) -> None:
        sessions = await self.memory.sessions(user=self.user)
        lines = [f"this is session {self.session}: commonplace chat --session {self.session} goes on with it"]
        lines += [f"    {shown(one.last_seen)}  {one.messages:>4} messages  {one.id}" for one in sessions]
        self.display.answer("/session", {"session": self.session, "sessions": sessions}, lines)

    async def _help(self, _: str) -> None:
        self.display.answer("/help", HELP, [f"{name:<22}{text}" for name, text in HELP.items()])

    def _meant(self, which: str) -> tuple[str, str]:
        if which.isdigit() and 1 <= int(which) <= len(self.listed):
            return self.listed[int(which) - 1]
        if not which:
            raise InvalidInput("nothing is named: expected the number of a line of the last list, or the id of a fact")
        if which.isdigit():
            raise NotFound("line of the last list", which)
        return "fact", which


def _said(item: Recalled) -> str:
    speaker = f"{item.name or item.role}: " if item.kind == "message" else ""
    note = f"  ({item.note})" if item.note else ""
    return f"{speaker}{' '.join((item.passage or item.text).split())}{note}"


def _since(fact: Fact) -> str:
    return f"  (since {shown(fact.valid_from)})" if fact.valid_from else ""
