from contextlib import aclosing
from dataclasses import replace

from commonplace.care.lines import line_of, record_of
from commonplace.domain.archive import KeptMessage
from commonplace.domain.receipts import Part
from commonplace.domain.values import Attachment, AttachmentId, MessageId, SessionId
from commonplace.ports.erasure import Removal
from commonplace.ports.ledger import Change, Ledger, MessageQuery, NewMessage
from tests.contracts.ledger.values import ANA, BEN, a_message, an_entry, later

PHOTO = Attachment(
    id=AttachmentId("a" * 64), type="image/png", size=7, name="sea\0 \ud800.png", caption="The sea \0 \ud800", text=""
)
NOTE = Attachment(id=AttachmentId("b" * 64), type="text/plain", size=9, text="read \0 in it \ud800")


def carrying(id_: str, *attachments: Attachment) -> Change:
    message = replace(a_message(id_), attachments=attachments)
    return Change(messages=[NewMessage(message=message, entries=(an_entry(),))])


class AttachmentsContract:
    async def test_a_message_comes_back_with_what_it_carries(self, ledger: Ledger) -> None:
        await ledger.write(ANA, carrying("m1", NOTE, PHOTO), carrying("m2"))
        by_id = await ledger.messages_by_id(ANA, [MessageId("m1"), MessageId("m2")])
        assert [by_id[MessageId(one)].attachments for one in ("m1", "m2")] == [(NOTE, PHOTO), ()]
        page = await ledger.messages(ANA, MessageQuery())
        assert {one.id: one.attachments for one in page.messages} == {"m1": (NOTE, PHOTO), "m2": ()}
        shown = await ledger.shown(ANA, [MessageId("m1")])
        assert shown.messages[MessageId("m1")].attachments == (NOTE, PHOTO)
        uncovered = await ledger.uncovered(ANA, SessionId("s1"), limit=1)
        assert uncovered[0].attachments == (NOTE, PHOTO)

    async def test_all_that_a_user_keeps_is_told_once_and_to_nobody_else(self, ledger: Ledger) -> None:
        await ledger.write(ANA, carrying("m1", PHOTO), carrying("m2", NOTE, PHOTO))
        await ledger.write(BEN, carrying("m1", NOTE))
        bare = {one.id: replace(one, caption="", text="") for one in (PHOTO, NOTE)}
        assert await ledger.attachments(ANA) == bare
        assert await ledger.attachments(ANA, [NOTE.id, AttachmentId("c" * 64)]) == {NOTE.id: bare[NOTE.id]}
        assert await ledger.attachments(BEN) == {NOTE.id: bare[NOTE.id]}
        assert await ledger.attachments(BEN, [PHOTO.id]) == {}

    async def test_what_is_known_keeps_what_it_carried(self, ledger: Ledger) -> None:
        await ledger.write(ANA, carrying("m1", PHOTO))
        await ledger.write(ANA, carrying("m1", NOTE))
        assert set(await ledger.attachments(ANA)) == {PHOTO.id}

    async def test_attachments_go_with_their_message_and_are_counted(self, ledger: Ledger) -> None:
        await ledger.write(ANA, carrying("m1", NOTE, PHOTO), carrying("m2", PHOTO))
        removal = Removal(id="e1", what=Part(message=MessageId("m1")), at=later(9), messages=[MessageId("m1")])
        assert (await ledger.erase(ANA, removal)).counts["attachments"] == 2
        assert set(await ledger.attachments(ANA)) == {PHOTO.id}
        erased = await ledger.erase(ANA, Removal(id="e2", what=Part(), at=later(9)))
        assert erased.counts["attachments"] == 1
        assert await ledger.attachments(ANA) == {}

    async def test_attachments_are_in_the_archive_of_their_message(self, ledger: Ledger) -> None:
        await ledger.write(ANA, carrying("m1", NOTE, PHOTO))
        async with aclosing(ledger.read_archive(ANA)) as batches:
            (kept,) = [one for batch in [batch async for batch in batches] for one in batch if type(one) is KeptMessage]
        assert kept.message.attachments == (NOTE, PHOTO)
        again = record_of(line_of(kept))
        assert again == kept
        await ledger.write_archive(BEN, [kept])
        assert set(await ledger.attachments(BEN)) == {NOTE.id, PHOTO.id}
