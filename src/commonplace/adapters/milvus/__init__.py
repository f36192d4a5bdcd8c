"""Vectors on a Milvus server, for any number of processes."""

from commonplace.adapters.milvus.index import MilvusIndex

__all__ = ["MilvusIndex"]
