"""As much of the Bolt protocol (versions 4 and 5) as a proxy must know: frames, names, failures."""

import socket
import struct
from collections.abc import Mapping

# By signature, the second byte of a message.
REQUESTS = {
    0x01: "HELLO", 0x02: "GOODBYE", 0x0F: "RESET", 0x10: "RUN", 0x11: "BEGIN", 0x12: "COMMIT",
    0x13: "ROLLBACK", 0x2F: "DISCARD", 0x3F: "PULL", 0x54: "TELEMETRY", 0x66: "ROUTE",
    0x6A: "LOGON", 0x6B: "LOGOFF",
}  # fmt: skip
RECORD = 0x71  # the one answer after which more follows
FAILURE = 0x7F
READS = b"\x84mode\x81r"  # in the options of BEGIN and RUN; without it they write
BOOKMARKS = b"\x89bookmarks"  # in the options of BEGIN and RUN, where there are any
END = b"\0\0"
NOOP = END  # a frame without a message keeps a connection alive
IGNORED = b"\x00\x02\xb0\x7e" + END
PROPOSALS = 20  # bytes with which a client begins: a magic number, four ranges of versions
ANY_VERSION = b"\0\0\1\xff"  # asks for a longer greeting, in which the server lists its versions


def read_exactly(sock: socket.socket, n: int) -> bytes:
    """Return so many bytes.

    Raises:
        ConnectionError: If the other side closes before.
    """
    data = bytearray()
    while len(data) < n:
        piece = sock.recv(n - len(data))
        if not piece:
            raise ConnectionError("closed by the other side")
        data += piece
    return bytes(data)


def read_frame(sock: socket.socket) -> bytes:
    """Return a message with its frame: chunks, each after its length, up to an empty one."""
    frame = bytearray()
    while True:
        header = read_exactly(sock, 2)
        frame += header
        if header == END:
            return bytes(frame)
        frame += read_exactly(sock, int.from_bytes(header, "big"))


def signature(frame: bytes) -> int | None:
    """Return what kind of message it is; None for one without content."""
    return None if frame == NOOP else frame[3]


def plain_proposals(greeting: bytes) -> bytes:
    """Return a client's greeting without the longer one: the answer then has four bytes."""
    return greeting.replace(ANY_VERSION, b"\0\0\0\0")


def failure(code: str, message: str) -> bytes:
    """Return FAILURE as a frame, with the keys of Bolt below 5.7 and above."""
    content = b"\xb1" + bytes([FAILURE]) + _mapping({
        "code": _text(code),
        "neo4j_code": _text(code),
        "message": _text(message),
        "description": _text(message),
        "gql_status": _text("50N42"),
        "diagnostic_record": _mapping({"CURRENT_SCHEMA": _text("/"), "OPERATION": _text(""),
                                       "OPERATION_CODE": _text("0")}),
    })  # fmt: skip
    return struct.pack(">H", len(content)) + content + END


def _text(text: str) -> bytes:
    data = text.encode()
    if len(data) < 16:
        return bytes([0x80 + len(data)]) + data
    return b"\xd0" + bytes([len(data)]) + data


def _mapping(items: Mapping[str, bytes]) -> bytes:
    packed = b"".join(_text(key) + value for key, value in items.items())
    return bytes([0xA0 + len(items)]) + packed
