"""What a child process does with a folder that it may only read."""

import asyncio
import os
import sys
from pathlib import Path

from commonplace.domain.errors import CommonplaceError
from tests.care.folders import memory_of

NOBODY = 65_534


async def main(folder: Path) -> None:
    async with memory_of(folder / "memory") as memory:  # also loads what nobody could load later
        await memory.add("I use Shram", user="ana")
    if os.geteuid() == 0:
        for path in (folder / "memory", *(folder / "memory").iterdir()):
            os.chown(path, NOBODY, NOBODY)
        os.chmod(folder, 0o755)
    for path in (folder / "memory").iterdir():
        path.chmod(0o400)
    (folder / "memory").chmod(0o500)
    if os.geteuid() == 0:
        for parent in folder.parents:
            if not parent.stat().st_mode & 0o001:
                parent.chmod(parent.stat().st_mode | 0o011)
        os.setuid(NOBODY)
    try:
        async with memory_of(folder / "memory") as memory:
            await memory.add("I use Magnet", user="ana")
    except CommonplaceError as error:
        sys.stdout.write(f"{type(error).__name__}: {error}")


asyncio.run(main(Path(sys.argv[1])))
