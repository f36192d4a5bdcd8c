"""Every page, for the application to include."""

from commonplace.interfaces.http.pages import assets, fact, facts, login, overview, playground

ROUTERS = tuple(module.router for module in (assets, login, overview, facts, fact, playground))
