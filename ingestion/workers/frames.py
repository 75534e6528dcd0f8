"""Messages between processes: pickles with a length prefix.

Both ends are kgrag itself, of the same user; nothing else writes to these pipes.
"""

import pickle
import struct
from typing import IO, Any

_LENGTH = struct.Struct(">Q")


def write_frame(pipe: IO[bytes], message: object) -> None:
    """Write a message.

    Raises:
        OSError: If the other end is gone.
    """
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def read_frame(pipe: IO[bytes]) -> Any:
    """Return the next message.

    Raises:
        EOFError: If the other end is gone, also in the middle of a message.
    """
    (length,) = _LENGTH.unpack(_exactly(pipe, _LENGTH.size))
    return pickle.loads(_exactly(pipe, length))


def _exactly(pipe: IO[bytes], n: int) -> bytes:
    data = pipe.read(n)
    if len(data) < n:
        raise EOFError
    return data
