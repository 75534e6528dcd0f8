"""Identity: ids are functions of content and place, never random, never counted."""

import hashlib

from kgrag.text.words import identity_key, normalize_name


def digest(*parts: str, length: int = 16) -> str:
    """Return the first `length` hex characters of the sha256 of the parts.

    Parts are length-prefixed, so that ("ab", "c") and ("a", "bc") differ.

    >>> digest("ab", "c") != digest("a", "bc")
    True
    """
    h = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        h.update(len(data).to_bytes(8, "big"))
        h.update(data)
    return h.hexdigest()[:length]


def document_id(file_name: str, content_hash: str) -> str:
    """Return the id of a file's document: its name and its bytes, wherever the folder is.

    The folder is left out on purpose: a moved archive is the same archive.

    >>> document_id("a.txt", "00")
    'd-2619a371f504efbe'
    """
    return "d-" + digest("document", file_name, content_hash)


def chunk_id(doc_id: str, size: int, position: int) -> str:
    """Return a chunk's id: its document, its group and its place in reading order.

    >>> chunk_id("d-1", 256, 3)
    'd-1:256:3'
    """
    return f"{doc_id}:{size}:{position}"


def document_of(chunk_id: str) -> str:
    """Return the document id inside a chunk id.

    >>> document_of("d-1:256:3")
    'd-1'
    """
    return chunk_id.rsplit(":", 2)[0]


def summary_id(doc_id: str, start: int, end: int, text: str) -> str:
    """Return the id of a summary of `document.text[start:end]`."""
    return "s-" + digest("summary", doc_id, str(start), str(end), text)


def entity_id(name: str) -> str:
    """Return the id of the entity with this name; spelling variants of width, case and marks agree.

    >>> entity_id("ＡＢＣ") == entity_id("abc")
    True
    """
    return "e-" + digest("entity", identity_key(name))


def document_node_id(name: str, issuer: str) -> str:
    """Return the id of the graph's node for a document: the name that others cite, and the issuer.

    Documents of one name by several issuers, as provinces have them by the dozen, are several.

    Args:
        name: `kgrag.text.titles.document_name` of its title.
        issuer: The full name of the organ that issued it; empty if unknown.

    >>> document_node_id("节能规划", "云岭省政府") == document_node_id("节能规划", "南渡省政府")
    False
    """
    return "e-" + digest("document", normalize_name(name), normalize_name(issuer))


def task_id(name: str, document_node: str) -> str:
    """Return the id of a task of a document: 加强组织领导 is another one in each.

    Args:
        name: The task.
        document_node: Id of the document's node.

    >>> task_id("加强组织领导", "e-1") == task_id("加强组织领导", "e-2")
    False
    """
    return "e-" + digest("task", identity_key(name), document_node)


def fact_id(subject_id: str, predicate: str, object_id: str) -> str:
    """Return the id of a triple between two entity ids."""
    return "f-" + digest("fact", subject_id, normalize_name(predicate), object_id)


def embedding_key(model: str, text: str) -> str:
    """Return the key under which the vector of a text by a model is kept.

    Args:
        model: Identity of the encoder.
        text: What the model reads.
    """
    return digest("embedding", model, text, length=32)
