"""Which segments of vectors a search cache is made of, and which of their documents are dead."""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from kgrag.store.sqlite.cache import CacheFolder, Note, remove
from kgrag.store.sqlite.changes import Mark
from kgrag.vectors.blocks import Block, Segment
from kgrag.vectors.files import FORMAT, open_segment, save_array


def segments_folder(cache: CacheFolder, name: str) -> Path:
    """Return the folder of a cache's segments."""
    return cache.folder / f"{name}.segments"


def write_list(cache: CacheFolder, name: str, mark: Mark, blocks: Sequence[Block]) -> None:
    """Let the cache be these blocks as of a commit, and remove what was before.

    Raises:
        OSError: If it cannot be written.
    """
    folder = segments_folder(cache, name)
    folder.mkdir(parents=True, exist_ok=True)
    dead = [np.flatnonzero(~block.documents) for block in blocks]
    file = folder / f"dead-{secrets.token_hex(8)}.npy"
    save_array(file, np.concatenate([np.empty(0, np.int64), *dead]))
    listed = [[b.segment.name, len(d)] for b, d in zip(blocks, dead, strict=True)]
    cache.write(name, FORMAT, Note(mark, folder, {"segments": listed, "dead": file.name}))
    remove_unlisted(folder, blocks)
    for old in folder.glob("dead-*"):
        if old != file:
            remove(old)


def remove_unlisted(folder: Path, blocks: Sequence[Block]) -> None:
    """Remove segments of no list, as a crash or a full disk leaves them; under the cache's lock."""
    names = {block.segment.name for block in blocks}
    for path in folder.iterdir() if folder.exists() else ():
        if path.is_dir() and path.name not in names:
            remove(path)


def read_list(note: Note, known: Mapping[str, Segment]) -> list[Block]:
    """Return the blocks that `write_list` listed.

    Args:
        note: Of the cache.
        known: Segments that are open already, by name.

    Raises:
        OSError, EOFError, ValueError, KeyError or TypeError: If they are not as written.
    """
    listed = note.details["segments"]
    if not isinstance(listed, list):
        raise TypeError("no list of segments")
    dead = np.load(note.content / str(note.details["dead"]))
    if len(dead) != sum(n_dead for _, n_dead in listed):
        raise ValueError(f"{len(dead)} dead documents for {listed}")
    blocks: list[Block] = []
    at = 0
    for name, n_dead in listed:
        segment = known.get(name) or open_segment(note.content / str(name))
        blocks.append(Block.of(segment, dead[at : (at := at + n_dead)]))
    return blocks
