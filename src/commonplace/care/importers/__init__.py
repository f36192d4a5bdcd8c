"""Readers of files that other programs wrote, one module each: from a file to the records of an archive.

What is read keeps its ids and its dates. Anything may be wrong in such a file: a part that cannot be read becomes
`Bad`, with its place, and the rest goes on.
"""
