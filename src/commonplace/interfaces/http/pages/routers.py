"""Every page, for the application to include."""

from commonplace.interfaces.http.pages import (
    assets,
    blocks,
    care,
    conversations,
    fact,
    facts,
    keys,
    login,
    overview,
    playground,
)

MODULES = (assets, login, overview, facts, fact, playground, conversations, blocks, care, keys)
ROUTERS = tuple(module.router for module in MODULES)
