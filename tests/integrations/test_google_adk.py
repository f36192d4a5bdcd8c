"""Google ADK's memory service, run by ADK's real runner with a scripted model."""

from collections.abc import AsyncGenerator
from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools.load_memory_tool import load_memory_tool
from google.genai import types

from commonplace import Memory
from commonplace.integrations.google_adk import MemoryService
from tests.integrations.examples import Staging

TOOLS, ASKED = "I use Shram and Magnet as productivity tools", "What productivity tools do I use?"


def said(text: str, author: str = "user") -> Event:
    content = types.Content(role="user" if author == "user" else "model", parts=[types.Part(text=text)])
    return Event(author=author, content=content)


def session(user: str, *events: Event, app: str = "app", name: str = "s1") -> Session:
    return Session(id=name, app_name=app, user_id=user, events=list(events))


async def found(service: MemoryService, user: str, query: str, app: str = "app") -> list[str]:
    answer = await service.search_memory(app_name=app, user_id=user, query=query)
    return [str(one.content.parts[0].text) for one in answer.memories if one.content.parts]


def test_the_example_is_told_asked_and_corrected_in_two_processes(
    tmp_path: Path, environment: dict[str, str], runner: Staging
) -> None:
    run = runner("google_adk_memory.py", environment)
    folder = str(tmp_path / "memory")
    run(folder, TOOLS)
    before, _, after = run(folder, ASKED, "I don't use Magnet anymore", ASKED).splitlines()
    assert "Shram" in before and "Magnet" in before
    assert "Shram" in after and "Magnet" not in after


class Looking(BaseLlm):
    """Looks a question up with ADK's own tool, and answers with what it was told."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        last = (llm_request.contents[-1].parts or [])[-1]
        if last.function_response:
            part = types.Part(text=str(last.function_response.response))
        elif "?" in (last.text or ""):
            part = types.Part(function_call=types.FunctionCall(name="load_memory", args={"query": last.text}))
        else:
            part = types.Part(text="Noted.")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def test_the_runner_looks_up_in_one_session_what_was_said_in_another(memory: Memory) -> None:
    async def keep(callback_context: CallbackContext) -> None:
        await callback_context.add_session_to_memory()

    agent = LlmAgent(name="helper", model=Looking(model="m"), tools=[load_memory_tool], after_agent_callback=keep)
    sessions = InMemorySessionService()
    adk = Runner(app_name="app", agent=agent, session_service=sessions, memory_service=MemoryService(memory))
    answers = []
    for name, text in (("monday", "I live in Oslo"), ("monday", "Thanks"), ("friday", "Where do I live?")):
        if await sessions.get_session(app_name="app", user_id="alex", session_id=name) is None:
            await sessions.create_session(app_name="app", user_id="alex", session_id=name)
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for event in adk.run_async(user_id="alex", session_id=name, new_message=message):
            if event.is_final_response() and event.content and event.content.parts:
                answers.append(str(event.content.parts[0].text))
    assert "User lives in Oslo" in answers[-1]
    monday = memory.messages(user="app/alex", session="monday")
    assert [(one.role, one.name, one.text) for one in monday] == [
        ("user", None, "I live in Oslo"),
        ("assistant", "helper", "Noted."),
        ("user", None, "Thanks"),
        ("assistant", "helper", "Noted."),
    ]
    await adk.close()


async def test_a_session_that_is_handed_in_again_brings_nothing_back(memory: Memory) -> None:
    service = MemoryService(memory)
    kept = session("bea", said("I live in Rome"), said("I work at Acme"), said("Good.", author="helper"))
    await service.add_session_to_memory(kept)
    answer = await service.search_memory(app_name="app", user_id="bea", query="Where do I live?")
    for one in (one for one in answer.memories if "Rome" in str(one.content)):
        await service.delete_memory(app_name="app", user_id="bea", memory_id=one.id)
    await service.delete_memory(app_name="app", user_id="bea", memory_id=kept.events[0].id)
    await service.add_session_to_memory(kept)
    assert not [text for text in await found(service, "bea", "Where do I live?") if "Rome" in text]
    assert "User works at Acme" in await found(service, "bea", "Where do I work?")
    memory.forget(user="app/bea")
    await service.add_session_to_memory(kept)
    assert await found(service, "bea", "Where do I work?") == []
    await service.add_session_to_memory(session("bea", said("I live in Paris"), name="s2"))
    assert "User lives in Paris" in await found(service, "bea", "Where do I live?")


async def test_nobody_finds_what_another_user_or_app_was_told(memory: Memory) -> None:
    service = MemoryService(memory)
    await service.add_session_to_memory(session("cleo", said("I live in Rome")))
    assert await found(service, "dan", "Where do I live?") == []
    assert await found(service, "cleo", "Where do I live?", app="other") == []
    await service.add_session_to_memory(session("c", said("I live in Oslo"), app="a/b"))
    assert await found(service, "b/c", "Where do I live?", app="a") == []
    shared = MemoryService(memory, owner=lambda app, user: user)
    await shared.add_session_to_memory(session("eve", said("I live in Oslo")))
    assert "User lives in Oslo" in await found(shared, "eve", "Where do I live?", app="other")


async def test_entries_are_written_as_facts_and_what_has_no_words_is_left_out(memory: Memory) -> None:
    service = MemoryService(memory)
    entry = MemoryEntry(content=types.Content(parts=[types.Part(text="Allergic to peanuts")]), custom_metadata={"n": 1})
    await service.add_memory(app_name="app", user_id="fay", memories=[entry])
    assert await found(service, "fay", "What is Fay allergic to?") == ["Allergic to peanuts"]
    call = types.Part(function_call=types.FunctionCall(name="x", args={}))
    silent = Event(author="helper", content=types.Content(role="model", parts=[call]))
    thought = types.Part(text="Hm, peanuts", thought=True)
    await service.add_session_to_memory(
        session("fay", silent, Event(author="helper"), Event(author="h", content=types.Content(parts=[thought])))
    )
    assert list(memory.messages(user="app/fay")) == []
    await service.delete_memory(app_name="app", user_id="fay", memory_id=None)
    await service.delete_memory(app_name="app", user_id="fay", memory_id="unknown")
    assert len(memory.facts(user="app/fay")) == 1
