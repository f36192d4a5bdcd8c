"""What happens to every request before a route sees it. Plain ASGI, so that mounted apps and streams pass it, too."""
