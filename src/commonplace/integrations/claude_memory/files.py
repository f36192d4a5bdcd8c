"""The six commands of Claude's memory tool over texts by name: pure, so that both tools share them.

The answers are those of the SDK's own tool on a file system, word for word: Claude was trained on them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

ROOT = "/memories"
WIDTH = 6
"""Of the line numbers."""
Files = Mapping[str, str]


class Refused(Exception):
    """A command that cannot be done. The message is for the model."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What to answer, and which files to write and to remove."""

    answer: str
    written: Files = field(default_factory=dict)
    removed: Sequence[str] = ()


def name_of(path: str) -> str:
    """Return the name of the file at a path below the root; the root itself is ''."""
    if not isinstance(path, str) or (path != ROOT and not path.startswith(f"{ROOT}/")):
        raise Refused(f"Path must start with {ROOT}, got: {path}")
    name = path.removeprefix(ROOT).strip("/")
    if any(part in ("", ".", "..") for part in name.split("/") if name) or "\\" in name or "\0" in name:
        raise Refused(f"Path {path} would escape {ROOT} directory")
    return name


def view(files: Files, path: str, view_range: Sequence[int] | None = None) -> Outcome:
    name = name_of(path)
    if name in files:
        lines = files[name].split("\n")
        first, last = (*view_range, -1)[:2] if view_range else (1, -1)
        start = max(1, first) - 1
        shown = lines[start : None if last == -1 else last]
        return Outcome(f"Here's the content of {path} with line numbers:\n" + _numbered(shown, start + 1))
    if name and not _inside(files, name):
        raise Refused(f"The path {path} does not exist. Please provide a valid path.")
    header = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    rows = [f"{_size(files, name)}\t{path}"]
    rows += [f"{_size(files, one)}\t{path}/{shown}" for one, shown in sorted(_listed(files, name), key=_by_parts)]
    return Outcome("\n".join([header, *rows]))


def create(files: Files, path: str, text: str) -> Outcome:
    name = _free(files, path, f"File {path} already exists")
    return Outcome(f"File created successfully at: {path}", written={name: _some(text, path)})


def str_replace(files: Files, path: str, old: str, new: str) -> Outcome:
    name, text = _file(files, path)
    count = text.count(old) if old else 0
    if count == 0:
        raise Refused(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if count > 1:
        lines = ", ".join(str(number) for number in _lines_with(text, old))
        raise Refused(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
            "Please ensure it is unique"
        )
    changed = text[: text.index(old)].count("\n")
    edited = _some(text.replace(old, new), path)
    start = max(0, changed - 2)
    snippet = _numbered(edited.split("\n")[start : changed + 3], start + 1)
    told = f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
    return Outcome(told, written={name: edited})


def insert(files: Files, path: str, line: int, text: str) -> Outcome:
    name, known = _file(files, path)
    lines = known.removesuffix("\n").split("\n")
    if not 0 <= line <= len(lines):
        raise Refused(f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}].")
    lines.insert(line, text.rstrip("\n"))
    return Outcome(f"The file {path} has been edited.", written={name: "\n".join(lines).rstrip("\n") + "\n"})


def delete(files: Files, path: str) -> Outcome:
    name = name_of(path)
    if not name:
        raise Refused(f"Cannot delete the {ROOT} directory itself")
    removed = [name] if name in files else _inside(files, name)
    if not removed:
        raise Refused(f"The path {path} does not exist")
    return Outcome(f"Successfully deleted {path}", removed=removed)


def rename(files: Files, path: str, new_path: str) -> Outcome:
    name = name_of(path)
    if not name:
        raise Refused(f"Cannot rename the {ROOT} directory itself")
    new = _free(files, new_path, f"The destination {new_path} already exists")
    moved = [name] if name in files else _inside(files, name)
    if not moved:
        raise Refused(f"The path {path} does not exist")
    if new.startswith(f"{name}/"):
        raise Refused(f"The destination {new_path} is inside of {path}")
    written = {new + one.removeprefix(name): files[one] for one in moved}
    return Outcome(f"Successfully renamed {path} to {new_path}", written=written, removed=moved)


def _inside(files: Files, name: str) -> list[str]:
    return [one for one in files if not name or one.startswith(f"{name}/")]


def _free(files: Files, path: str, taken: str) -> str:
    """Return the name at a path where nothing is, and where something can be."""
    name = name_of(path)
    if not name or name in files or _inside(files, name):
        raise Refused(taken)
    parts = name.split("/")
    if above := [one for stop in range(1, len(parts)) if (one := "/".join(parts[:stop])) in files]:
        raise Refused(f"The path {ROOT}/{above[0]} is not a directory.")
    return name


def _file(files: Files, path: str) -> tuple[str, str]:
    name = name_of(path)
    if name in files:
        return name, files[name]
    if not name or _inside(files, name):
        raise Refused(f"The path {path} is not a file.")
    raise Refused(f"The path {path} does not exist. Please provide a valid path.")


def _some(text: str, path: str) -> str:
    """A block is never empty: there would be nothing to put in the prompt."""
    if not text.strip():
        raise Refused(f"The file {path} would be empty. Please write some text, or delete it.")
    return text


def _listed(files: Files, name: str) -> Iterator[tuple[str, str]]:
    """Yield what is up to two levels below a directory: the whole name, and how it is shown. Directories end in '/'."""
    seen = set()
    for one in _inside(files, name):
        parts = one.removeprefix(f"{name}/" if name else "").split("/")
        for depth in (1, 2):
            below = "/".join(parts[:depth])
            if depth > len(parts) or below in seen or any(part.startswith(".") for part in parts[:depth]):
                continue
            seen.add(below)
            yield f"{name}/{below}" if name else below, below if depth == len(parts) else f"{below}/"


def _by_parts(row: tuple[str, str]) -> list[str]:
    return row[1].rstrip("/").split("/")


def _lines_with(text: str, old: str) -> Iterator[int]:
    place = text.find(old)
    while place != -1:
        yield text[:place].count("\n") + 1
        place = text.find(old, place + 1)


def _numbered(lines: Sequence[str], start: int) -> str:
    return "\n".join(f"{number:>{WIDTH}}\t{line}" for number, line in enumerate(lines, start=start))


def _size(files: Files, name: str) -> str:
    size = sum(len(files[one].encode()) for one in ([name] if name in files else _inside(files, name)))
    power = min(max(size.bit_length() - 1, 0) // 10, 3)
    scaled = size / 1024**power
    return f"{scaled:.0f}{'BKMG'[power]}" if scaled == int(scaled) else f"{scaled:.1f}{'BKMG'[power]}"
