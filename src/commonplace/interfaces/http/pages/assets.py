"""Our own style and scripts, read once. Their address carries a digest, so a browser may keep them."""

import hashlib
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter
from fastapi import Path as InPath
from starlette.responses import Response

from commonplace.interfaces.http.problems import NotServed

router = APIRouter(include_in_schema=False)

KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FILES = {path.name: path.read_bytes() for path in (Path(__file__).parent / "static").iterdir() if path.suffix in KINDS}
DIGEST = hashlib.sha256(b"".join(FILES[name] for name in sorted(FILES))).hexdigest()[:12]


@router.get("/static/{digest}/{name}")
async def asset(digest: str, name: Annotated[str, InPath(max_length=100)]) -> Response:
    if name not in FILES:
        raise NotServed(f"{name[:100]!r}: there is no such file here")
    kept = "public, max-age=31536000, immutable" if digest == DIGEST else "no-cache"
    return Response(FILES[name], media_type=KINDS[Path(name).suffix], headers={"Cache-Control": kept})
