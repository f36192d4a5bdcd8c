"""Every page, for the application to include."""

from commonplace.interfaces.http.pages import (
    assets,
    blocks,
    care,
    conversations,
    fact,
    facts,
    graph,
    keys,
    login,
    overview,
    playground,
    talk,
)

MODULES = (assets, login, overview, facts, fact, playground, conversations, blocks, talk, graph, care, keys)
ROUTERS = tuple(module.router for module in MODULES)
