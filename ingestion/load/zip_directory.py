"""How large the list of a zip's members is, told before it is taken into memory."""

import struct

from kgrag.errors import IngestionError

_END = b"PK\x05\x06"
_END_SIZE = 22
_LONGEST_COMMENT = 65_535
MAX_DIRECTORY_BYTES = 10_000_000  # some 100,000 members


def check_directory(data: bytes, name: str) -> None:
    """Refuse a zip whose list of members would fill the memory; any other file passes.

    Args:
        data: The whole file.
        name: The file, for messages.

    Raises:
        IngestionError: The list is longer than that of any archive of documents.
    """
    at = data.rfind(_END, max(0, len(data) - _END_SIZE - _LONGEST_COMMENT))
    if at < 0 or at + _END_SIZE > len(data):
        return
    (size,) = struct.unpack_from("<L", data, at + 12)
    # 0xFFFFFFFF: the size stands in the record of large archives, before this one.
    if size == 0xFFFFFFFF:
        large = data.rfind(b"PK\x06\x06", 0, at)
        size = struct.unpack_from("<Q", data, large + 40)[0] if 0 <= large < at - 48 else size
    if size > MAX_DIRECTORY_BYTES:
        raise IngestionError(f"{name}: its list of members takes {size:,} bytes; split the archive")
