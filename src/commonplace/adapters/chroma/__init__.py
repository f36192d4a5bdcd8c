"""The VectorIndex port on Chroma: in a folder that one process owns, in this process's memory, or on a server.

chromadb takes 1 to 2.5 CPU seconds to import: `index` does without it until it is first used.
"""
