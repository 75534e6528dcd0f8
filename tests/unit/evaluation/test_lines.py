"""Lines are read as objects, with their place."""

from kgrag.evaluation.lines import read_rows


def test_read_rows_counts_blank_lines_and_takes_a_byte_order_mark(tmp_path):
    """The line number is that of the file, as an editor shows it."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a": 2}')

    assert list(read_rows(path)) == [(f"{path}:1", {"a": 1}), (f"{path}:3", {"a": 2})]
