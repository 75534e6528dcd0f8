"""Parse JSON from outside; all errors are ValueErrors with a reason."""

import json
from collections.abc import Sequence
from typing import Any


def read_foreign(data: bytes | str) -> Any:
    r"""Parse JSON.

    `NaN` and `Infinity`, which JSON lacks, become None. Duplicate keys are an error, as the meant
    value is unknown.

    Args:
        data: Text, or bytes in UTF-8.

    Raises:
        ValueError: If it is not UTF-8, not JSON, nested too deep, or has a duplicate key.

    >>> read_foreign(b'{"a": NaN}')
    {'a': None}
    """
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
        return _DECODER.decode(text)
    except UnicodeDecodeError as exc:
        raise ValueError(f"not UTF-8 (byte {exc.start}); save the file as UTF-8") from exc
    except RecursionError:
        raise ValueError("not JSON that can be read: nested too deep") from None
    except json.JSONDecodeError as exc:
        raise ValueError(f"not JSON ({exc})") from exc


def _object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise ValueError(f"the key {twice[:40]!r} stands twice in one object")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=lambda _: None)
