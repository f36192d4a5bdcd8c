"""What every Ledger must do. An adapter passes by subclassing LedgerContract and giving a `ledger`."""

from tests.contracts.ledger.archive import ArchiveContract
from tests.contracts.ledger.attachments import AttachmentsContract
from tests.contracts.ledger.blocks import BlocksContract
from tests.contracts.ledger.embeddings import EmbeddingCacheContract
from tests.contracts.ledger.erasure import ErasureContract
from tests.contracts.ledger.facts import FactsContract
from tests.contracts.ledger.feed import IndexFeedContract
from tests.contracts.ledger.isolation import IsolationContract
from tests.contracts.ledger.jobs import JobsContract
from tests.contracts.ledger.leases import LeasesContract
from tests.contracts.ledger.messages import MessagesContract
from tests.contracts.ledger.own_models import OwnModelsContract
from tests.contracts.ledger.retention import RetentionContract
from tests.contracts.ledger.sessions import SessionsContract
from tests.contracts.ledger.summaries import SummariesContract
from tests.contracts.ledger.upkeep import UpkeepContract
from tests.contracts.ledger.writing import WritingContract


class LedgerContract(
    WritingContract,
    MessagesContract,
    FactsContract,
    IndexFeedContract,
    BlocksContract,
    SummariesContract,
    AttachmentsContract,
    SessionsContract,
    EmbeddingCacheContract,
    JobsContract,
    UpkeepContract,
    OwnModelsContract,
    ErasureContract,
    ArchiveContract,
    RetentionContract,
    LeasesContract,
    IsolationContract,
):
    pass


__all__ = ["LedgerContract"]
