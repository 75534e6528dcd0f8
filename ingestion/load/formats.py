"""Formats by suffix: built-in ones, and those of plugins with their readers."""

import inspect
import logging
from collections.abc import Callable, Mapping
from typing import Protocol, cast

from kgrag.errors import IngestionError
from kgrag.ingestion.load.ocr.engine import is_installed
from kgrag.ingestion.load.parsed import Parsed, replace_unusable
from kgrag.plugins import Plugin, by_name, find, told
from kgrag.types import Segment

_log = logging.getLogger(__name__)

MEDIA_TYPES = {
    **dict.fromkeys((".txt", ".text"), "txt"),
    **dict.fromkeys((".md", ".markdown"), "md"),
    **dict.fromkeys((".html", ".htm", ".shtml", ".xhtml"), "html"),
    **dict.fromkeys((".docx", ".docm", ".dotx", ".dotm"), "docx"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xltx", ".xltm"), "xlsx"),
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    **dict.fromkeys((".mht", ".mhtml"), "mht"),
    **dict.fromkeys((".pptx", ".pptm", ".ppsx", ".potx"), "pptx"),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp"), "picture"),
    **{
        f".{name}": name
        for name in (
            "pdf",
            "doc",
            "wps",
            "rtf",
            "odt",
            "xls",
            "et",
            "ods",
            "eml",
            "msg",
            "jsonl",
            "ofd",
            "epub",
        )
    },
}
_OWN = frozenset(suffix.removeprefix(".") for suffix in MEDIA_TYPES)


class Reader(Protocol):
    """Reads a document from a file's bytes."""

    def __call__(self, data: bytes, *, name: str, stem: str) -> Parsed:
        """Return a file's text, title and properties.

        Args:
            data: The whole file, not empty.
            name: The file as shown to the user, for messages.
            stem: Its name without suffix: the title where the text has none.

        Raises:
            IngestionError: If it cannot be read; names the remedy.
        """
        ...


def suffixes() -> list[str]:
    """Return the suffixes of all formats, with their dots, sorted."""
    return sorted((*MEDIA_TYPES, *(f".{name}" for name in by_name("kgrag.loaders", taken=_OWN))))


def media_type_of(suffix: str) -> str | None:
    """Return the media type of a suffix; None where no loader reads such files.

    Args:
        suffix: In lower case, with its dot; without it, it is the type of a plugin's files.

    Raises:
        PluginError: If two plugins read such files.
    """
    if suffix in MEDIA_TYPES:
        media_type = MEDIA_TYPES[suffix]
        return None if media_type == "picture" and not is_installed() else media_type
    plugin = _plugin(suffix.removeprefix("."))
    return plugin.name if plugin else None


def plugin_version(media_type: str) -> str:
    """Return package and version of the plugin that reads a format; empty where none does."""
    plugin = _plugin(media_type)
    return f"{plugin.package} {plugin.version}" if plugin else ""


def plugin_reader(media_type: str) -> Reader | None:
    """Return a plugin's reader for a format, its results checked; None where none has one.

    Raises:
        PluginError: If it cannot be imported, or is no reader.
    """
    plugin = _plugin(media_type)
    if plugin is None:
        return None
    read = plugin.load()
    if not callable(read):
        raise plugin.error(f"is no function (data, *, name, stem), but {type(read).__name__}")
    if other := _other_parameters(read):
        raise plugin.error(f"takes {other} instead of (data, *, name, stem)")
    return _guarded(plugin, cast("Reader", read))


def _plugin(media_type: str) -> Plugin | None:
    if not media_type or media_type in _OWN:
        return None
    return find("kgrag.loaders", media_type, taken=_OWN)


def _other_parameters(read: Callable[..., object]) -> str:
    """Return the parameters of a function that takes no (data, *, name, stem), else ""."""
    parameters = "parameters that it does not tell"
    try:
        signature = inspect.signature(read)
        parameters = str(signature)
        signature.bind(b"", name="", stem="")
    except (TypeError, ValueError):
        return parameters
    return ""


def _guarded(plugin: Plugin, read: Reader) -> Reader:
    def guarded(data: bytes, *, name: str, stem: str) -> Parsed:
        try:
            parsed = read(data, name=name, stem=stem)
        except IngestionError as exc:
            if str(exc).startswith(f"{name}: "):
                raise
            raise IngestionError(f"{name}: {exc}") from exc
        except MemoryError:  # told of by who limits it
            raise
        except (Exception, SystemExit) as exc:
            _log.info("%s: %s could not read it", name, plugin, exc_info=exc)
            raise IngestionError(f"{name}: {plugin} could not read it: {told(exc)}") from exc
        if not isinstance(parsed, Parsed):
            raise plugin.error(f"gave {type(parsed).__name__} where Parsed is wanted")
        wrong = _wrong_with(parsed)
        if wrong:
            raise IngestionError(f"{name}: {plugin} gave {wrong}")
        text, warnings = replace_unusable(parsed.text)
        return Parsed(
            text=text,
            title=" ".join(replace_unusable(parsed.title)[0].split()) or stem,
            segments=tuple(parsed.segments),
            warnings=(*parsed.warnings, *warnings),
            properties=dict(parsed.properties),
        )

    return guarded


def _wrong_with(parsed: Parsed) -> str:
    """Return what is wrong with a reader's result; empty if nothing is."""
    if not isinstance(parsed.warnings, list | tuple):
        return f"warnings in a {type(parsed.warnings).__name__}: a tuple of texts is wanted"
    if not isinstance(parsed.properties, Mapping):
        return f"properties in a {type(parsed.properties).__name__}: a mapping is wanted"
    texts = (parsed.text, parsed.title, *parsed.warnings)
    texts += (*parsed.properties.keys(), *parsed.properties.values())
    if not all(isinstance(text, str) for text in texts):
        return "a text, title, warning or property that is no str"
    end = 0
    for segment in parsed.segments:
        if not isinstance(segment, Segment):
            return f"a segment that is no Segment: {segment!r}"
        if not end <= segment.start < segment.end <= len(parsed.text):
            return f"a segment out of order or of the text: {segment}"
        end = segment.end
    return ""
