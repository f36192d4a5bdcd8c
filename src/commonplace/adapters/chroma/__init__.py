"""The VectorIndex port on Chroma: a folder of one's own, a collection set in this process, or a server.

chromadb takes seconds to import, so nothing here imports it before the first real use.
"""
