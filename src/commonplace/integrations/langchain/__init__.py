"""LangChain's retriever, chat history and vector store on Commonplace. They need langchain-core alone."""

from commonplace.integrations.extras import needing

with needing("langchain"):
    from commonplace.integrations.langchain.history import MemoryChatHistory
    from commonplace.integrations.langchain.retriever import MemoryRetriever
    from commonplace.integrations.langchain.vectors import MemoryVectorStore

__all__ = ["MemoryChatHistory", "MemoryRetriever", "MemoryVectorStore"]
