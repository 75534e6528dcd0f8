"""Pictures, charts and embedded objects of Word: a mark in the text where each stands."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kgrag.ingestion.load.word.package import R, W

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
_DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_V = "{urn:schemas-microsoft-com:vml}"
_O = "{urn:schemas-microsoft-com:office:office}"
# Smaller both ways is a bullet or a line: 0.5 cm in Word's units of 1/360,000 cm.
_SMALL = 180_000
# What programs write there by themselves: file names, counters, guesses.
_NO_ALT = re.compile(
    r"(?:.*[\\/].*|.*\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg)|wps图片.*|.*(?:描述已自动生成|自动生成的说明"
    r"|automatically generated|AI 生成的内容可能不正确).*"
    r"|(?:img|image|picture|pic|图片|图像|截图|微信图片|微信截图|qq图片|qq截图|屏幕截图|photo|未命名|untitled|logo)?[\s_\-()（）\d]*"
    r"|[\da-f\-]{16,})",
    re.IGNORECASE | re.DOTALL,
)  # fmt: skip
_LONGEST_ALT = 200


def marks(shape: "Element") -> Iterator[tuple[str, str, str]]:
    """Yield (kind, mark, relation id) of what a drawing, picture or object shows besides text.

    Args:
        shape: `w:drawing`, `w:pict` or `w:object`. Those in its text boxes are not its own.

    Yields:
        kind `picture`, `chart`, `formula` or `object`; the mark as it stands in the text, e.g.
        `[图片：厂区平面图]`; the id of the picture's relation, empty where there is none.
    """
    if shape.tag == W + "object":
        yield from _object_marks(shape)
        return
    alt = _alt(shape)
    if _has(shape, _C + "chart") or _has(shape, _CX + "chart"):
        yield "chart", _mark("图表", alt), ""
    if _is_small(shape):
        return
    found = [blip.get(R + "embed") or blip.get(R + "link") for blip in _own(shape, _A + "blip")]
    found += [data.get(R + "id") for data in _own(shape, _V + "imagedata")]
    # A shape that is filled with several pictures is one to the reader, a group is several.
    for relation in dict.fromkeys(relation for relation in found if relation):
        yield "picture", _mark("图片", alt), relation


def diagram_relation(shape: "Element") -> str:
    """Return the relation id of a diagram's text (SmartArt); empty where there is none."""
    return next((ids.get(R + "dm") or "" for ids in shape.iter(_DGM + "relIds")), "")


def diagram_lines(root: "Element") -> Iterator[str]:
    """Yield the lines of a diagram's text.

    Args:
        root: `dgm:dataModel`.
    """
    for body in root.iter(_DGM + "t"):
        for paragraph in body.iter(_A + "p"):
            text = "".join(piece.text or "" for piece in paragraph.iter(_A + "t")).strip()
            if text:
                yield text


def _object_marks(shape: "Element") -> Iterator[tuple[str, str, str]]:
    program = next((o.get("ProgID") or "" for o in shape.iter(_O + "OLEObject")), "")
    if re.match(r"Equation|MathType", program, re.IGNORECASE):
        yield "formula", "[公式]", ""
        return
    noun = "表格" if "excel" in program.lower() or program.startswith("ET.") else "对象"
    yield "object", f"[嵌入{noun}]", ""


def _own(shape: "Element", tag: str) -> "Iterator[Element]":
    for element in shape.iter(tag):
        parents = element.iterancestors(W + "txbxContent", shape.tag)
        if next(parents, shape) is shape:
            yield element


def _has(shape: "Element", tag: str) -> bool:
    return next(_own(shape, tag), None) is not None


def _is_small(shape: "Element") -> bool:
    extent = next(shape.iter(_WP + "extent"), None)
    if extent is None:
        return False
    sides = (extent.get("cx", ""), extent.get("cy", ""))
    return all(side.isdecimal() and int(side) < _SMALL for side in sides)


def _alt(shape: "Element") -> str:
    texts = [p.get(key) for p in shape.iter(_WP + "docPr") for key in ("descr", "title")]
    texts += [s.get("alt") for s in shape.iter(_V + "shape")]
    texts += [d.get(_O + "title") for d in shape.iter(_V + "imagedata")]
    for text in texts:
        clean = " ".join((text or "").split())
        if clean and len(clean) <= _LONGEST_ALT and not _NO_ALT.fullmatch(clean):
            return clean
    return ""


def _mark(noun: str, alt: str) -> str:
    return f"[{noun}：{alt}]" if alt else f"[{noun}]"
