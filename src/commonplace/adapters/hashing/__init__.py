"""Embedder without a model: a toy for tests and examples. Texts that share words are near, synonyms are strangers."""

from commonplace.adapters.hashing.embedder import HashEmbedder

__all__ = ["HashEmbedder"]
