"""LlamaIndex's memory block and chat stores on Commonplace. They need llama-index-core alone."""

from commonplace.integrations.extras import needing

with needing("llama-index"):
    from commonplace.integrations.llama_index.block import RecallBlock
    from commonplace.integrations.llama_index.stores import MemoryChatStore, MemoryDBChatStore

__all__ = ["MemoryChatStore", "MemoryDBChatStore", "RecallBlock"]
