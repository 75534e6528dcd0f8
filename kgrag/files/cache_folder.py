"""The cache folder: models, vectors, copies."""

import os
from pathlib import Path

import platformdirs

from kgrag.errors import ModelError


def cache_folder() -> Path:
    """Return the user's cache folder of kgrag; it may not exist yet.

    It is `$KGRAG_CACHE`, or `kgrag` in the platform's cache folder: `$XDG_CACHE_HOME` or
    `~/.cache`, `~/Library/Caches`, `%LOCALAPPDATA%`.

    Raises:
        ModelError: If the user has no home folder and `$KGRAG_CACHE` is not set.
    """
    if chosen := os.environ.get("KGRAG_CACHE"):
        return Path(chosen)
    try:
        # without `opinion`, Windows has no folder Cache below it
        return platformdirs.user_cache_path("kgrag", appauthor=False, opinion=False)
    except (OSError, RuntimeError, ValueError) as exc:  # the last two of Windows
        raise ModelError(
            f"there is no place for models and caches: {exc}. Remedy: set KGRAG_CACHE to a folder"
        ) from exc
