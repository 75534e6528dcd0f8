"""Plain text files: the text is the decoded file, so offsets point into the user's own file."""

from kgrag.files.encoding import decode
from kgrag.ingestion.load.front_matter import front_matter
from kgrag.ingestion.load.parsed import Parsed, line_segments, replace_unusable
from kgrag.ingestion.load.title import guess_title


def read_plain(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return a text file's content: no line break is changed, a byte order mark is left out.

    What stands ahead of the text (title: …) is the title and the properties, and stays text.

    Args:
        data: The whole file.
        name: The file, for messages.
        stem: The title where the text names none.

    Raises:
        IngestionError: It is not text.
    """
    decoded = decode(data, name=name)
    text, warnings = replace_unusable(decoded.text)
    told = front_matter(text)
    return Parsed(
        text=text,
        title=told.pop("title", "") or guess_title(text, stem),
        segments=line_segments(text),
        warnings=(*decoded.warnings, *warnings),
        properties={"encoding": decoded.encoding, **told},
    )
