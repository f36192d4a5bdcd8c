"""The web page: see a memory and correct it. Made on the server; the scripts only save a reload."""
