"""Files with secrets in them: written once, readable by their owner alone, in a folder that is, too."""

import os
from collections.abc import Callable
from pathlib import Path

FILE_MODE, FOLDER_MODE = 0o600, 0o700


def keep_secret(path: Path, make: Callable[[], str]) -> bool:
    """Whether the file was made now. One that is there keeps what it holds; that others may read it is taken back."""
    if path.exists():
        if path.stat().st_mode & 0o077 and path.stat().st_uid == os.getuid():
            path.chmod(FILE_MODE)
        return False
    _make_folder(path.parent)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE), "w") as file:
        file.write(make())
    return True


def _make_folder(folder: Path) -> None:
    """With its parents, each for its owner alone; one that is there stays as it is."""
    for each in [*reversed(folder.parents), folder]:
        if not each.exists():
            each.mkdir(FOLDER_MODE, exist_ok=True)
