"""The parts of an Office file: a zip of XML, opened within bounds, strict as transitional."""

import io
import posixpath
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from kgrag.errors import IngestionError
from kgrag.text.messages import message

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DC = "{http://purl.org/dc/elements/1.1/}"
# ISO/IEC 29500 names its strict forms apart; they mean the same.
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/([A-Za-z]+)/")
# A tree takes up to 200 bytes for each tag and attribute, so these keep it under 0.7 GB. A
# thousand pages of a real Word file are about 20 MB and 500,000 tags.
_MAX_BYTES = 60_000_000
_MAX_TAGS = 3_000_000
OFF = ("0", "false", "off")
_END = b"PK\x05\x06"
_END_SIZE = 22  # bytes
_LONGEST_COMMENT = 65_535
_MAX_DIRECTORY_BYTES = 10_000_000  # some 100,000 members


class NotWordError(Exception):
    """A file is no such file, or a damaged one."""


# What is raised where a file that is a zip of XML is damaged.
DAMAGED = (NotWordError, zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError,
           NotImplementedError, RecursionError)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation to another part: its kind (`styles`, `image`) and its path in the zip."""

    kind: str
    path: str


@dataclass(slots=True)
class WordPackage:
    """An open Office file.

    Attributes:
        name: The file, for messages.
        main: Path of the part that holds the text.
        relations: Of the main part by id; those that lead out of the file are left out.
        n_bytes: Unpacked size of the parts that were read as trees.
        n_tags: Their tags and attributes.
    """

    name: str
    archive: zipfile.ZipFile
    entries: dict[str, zipfile.ZipInfo]
    main: str = ""
    relations: dict[str, Relation] = field(default_factory=dict)
    n_bytes: int = 0
    n_tags: int = 0

    def tree(self, path: str, without: re.Pattern[bytes] | None = None) -> "Element | None":
        """Return a part's root element; None if there is no such part.

        Args:
            path: Of the part.
            without: What is taken out of it before it is counted and parsed.

        Raises:
            IngestionError: It is larger than a file's text can be.
            NotWordError: It is no XML, or refers to entities, or the zip is damaged here.
        """
        from lxml import etree

        if path.lower() not in self.entries:
            return None
        data = self.content(path)
        data = without.sub(b"", data) if without else data
        self.n_tags += data.count(b"<") + data.count(b'="') + data.count(b"='")
        self._bound(self.n_tags, _MAX_TAGS, "tags and attributes", path)
        data = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", data)
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, huge_tree=False, remove_comments=True,
            remove_pis=True,
        )  # fmt: skip
        try:
            root: Element = etree.fromstring(data, parser)
        except etree.LxmlError as exc:
            raise NotWordError(f"{path}: {exc}") from exc
        entity = next(root.iter(etree.Entity), None)
        if entity is not None:  # no Word file may; what it stands for would be missing
            raise NotWordError(
                message(
                    "{path}: text is replaced by an XML entity, {text}", path=path, text=entity.text
                )
            )
        return root

    def content(self, path: str) -> bytes:
        """Return a part's bytes; nothing if there is no such part.

        Raises:
            IngestionError: With those read before it is larger than a file's text can be.
            NotWordError: It is encrypted.
        """
        info = self.entries.get(path.lower())
        if info is None:
            return b""
        self.n_bytes += info.file_size
        self._bound(self.n_bytes, _MAX_BYTES, "bytes unpacked", path)
        try:
            with self.archive.open(info) as part:
                return part.read(info.file_size)
        except RuntimeError as exc:  # an encrypted entry
            raise NotWordError(f"{info.filename}: {exc}") from exc

    def related(self, kind: str) -> "list[Element]":
        """Return the roots of the parts that the main part names by a kind, e.g. `styles`."""
        paths = [relation.path for relation in self.relations.values() if relation.kind == kind]
        return [root for path in paths if (root := self.tree(path)) is not None]

    def properties(self) -> dict[str, str]:
        """Return `title` and `creator` of the file's properties, where they are set."""
        try:
            root = self.tree("docProps/core.xml")
        except NotWordError:  # of no weight for the text
            return {}
        found = {} if root is None else {k: root.findtext(_DC + k) for k in ("title", "creator")}
        return {key: text.strip() for key, text in found.items() if text and text.strip()}

    def _bound(self, n: int, limit: int, noun: str, path: str) -> None:
        if n > limit:
            raise IngestionError(
                "{name}: has {n:,} {noun} up to {path}, more than {limit:,}; split the file",
                name=self.name,
                n=n,
                noun=noun,
                path=path,
                limit=limit,
            )


def open_package(data: bytes, name: str, main: str = "word/document.xml") -> WordPackage:
    """Return an Office file's parts; nothing but the list of them is read.

    Args:
        data: The whole file.
        name: The file, for messages.
        main: The part that holds its text, where it names none.

    Raises:
        BadZipFile: It is no zip.
        NotWordError: No part of it holds a text.
        IngestionError: Its list of parts is larger than a file's can be.
    """
    check_directory(data, name)
    archive = zipfile.ZipFile(io.BytesIO(data))
    # Some writers part folders by a backslash, some differ in capitals from what they refer to.
    entries = {info.filename.replace("\\", "/").lower(): info for info in archive.infolist()}
    package = WordPackage(name, archive, entries)
    top = _relations(package, "").values()
    package.main = next((r.path for r in top if r.kind == "officeDocument"), main)
    if package.main.lower() not in entries:
        raise NotWordError(message("no part holds a text"))
    package.relations = _relations(package, package.main)
    return package


def check_directory(data: bytes, name: str) -> None:
    """Check the list of members of a zip, given the file or its end.

    Raises:
        IngestionError: It would fill the memory.
    """
    at = data.rfind(_END, max(0, len(data) - _END_SIZE - _LONGEST_COMMENT))
    if at < 0 or at + _END_SIZE > len(data):
        return
    (size,) = struct.unpack_from("<L", data, at + 12)
    # 0xFFFFFFFF: the size stands in the record of large archives, before this one.
    if size == 0xFFFFFFFF:
        large = data.rfind(b"PK\x06\x06", 0, at)
        size = struct.unpack_from("<Q", data, large + 40)[0] if 0 <= large < at - 48 else size
    if size > _MAX_DIRECTORY_BYTES:
        raise IngestionError(
            "{name}: its list of members takes {size:,} bytes; split the archive",
            name=name,
            size=size,
        )


def property_value(element: "Element", path: str, default: str | None = None) -> str | None:
    """Return the value of a property such as `pPr/pStyle`.

    Args:
        element: Below which it stands.
        path: Names of elements, without namespace.
        default: The value of a property that has none; without the property it is None.
    """
    found = element.find(_qualified(path))
    return None if found is None else found.get(W + "val", default)


def is_on(element: "Element", path: str) -> bool:
    """Return whether a property is there and not switched off."""
    return property_value(element, path, "1") not in (None, *OFF)


@cache
def _qualified(path: str) -> str:
    return "/".join(W + tag for tag in path.split("/"))


def _relations(package: WordPackage, path: str) -> dict[str, Relation]:
    folder, file = posixpath.split(path)
    root = package.tree(posixpath.join(folder, "_rels", f"{file}.rels"))
    found = {}
    for child in () if root is None else root:
        target = child.get("Target", "")
        if child.get("TargetMode") == "External" or not target:
            continue
        place = posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
        found[child.get("Id", "")] = Relation(child.get("Type", "").rpartition("/")[2], place)
    return found
