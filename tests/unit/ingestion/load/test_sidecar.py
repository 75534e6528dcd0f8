import os

import pytest

from kgrag.ingestion.load.sidecar import Sidecars
from kgrag.ingestion.load.source import discover


def write(folder, **texts):
    """Write files; a double underscore stands for a folder, a single one for the ending's dot."""
    for name, text in texts.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def told(folder, *paths):
    """Return what is wrong with sidecar files, by place below the folder."""
    found = discover(paths or [folder])
    failures = Sidecars(found.sidecars).failures(found)
    return [(os.path.relpath(f.file, folder), f.reason) for f in failures]


def title(path):
    """Return the title that is stated of a file."""
    return Sidecars().stated(path).get("stated.title")


@pytest.mark.parametrize(
    "name", ["a.txt", "a", "./a.txt", "sub/../a.txt", "A.TXT", "sub/b.md", "sub\\b.md", "sub/b"]
)
def test_a_row_names_a_file_beside_or_below(tmp_path, name):
    """By name or relative path, as Windows writes it, too, with or without ending."""
    write(tmp_path, a_txt="x", sub__b_md="x", metadata_csv=f"file,title\n{name},甲\n")
    named = [p for p in ("a.txt", "sub/b.md") if title(tmp_path / p) == "甲"]

    if ".." in name or name.isupper():
        assert (named, len(told(tmp_path))) == ([], 1)
    else:
        assert named == ["a.txt" if "a" in name else "sub/b.md"]
        assert told(tmp_path) == []


def test_the_nearest_row_holds_and_a_table_before_records(tmp_path):
    """The others are told: only one can be meant."""
    write(tmp_path, a_txt="x", sub__b_txt="x")
    write(tmp_path, metadata_csv="file,title\na,甲\nsub/b,乙\n")
    write(
        tmp_path,
        metadata_jsonl='{"file": "a", "title": "丙"}\n',
        sub__metadata_csv="file,title\nb,丁",
    )

    assert (title(tmp_path / "a.txt"), title(tmp_path / "sub/b.txt")) == ("甲", "丁")
    places = [place for place, reason in told(tmp_path) if "keep one row" in reason]
    assert places == ["metadata.csv:3", "metadata.jsonl:1"]


def test_what_is_wrong_is_told_with_line_and_remedy(tmp_path):
    """In the order of lines; a row that is wrong in one value holds in the others."""
    write(tmp_path, a_txt="x", b_txt="x", b_md="x", sub__c_txt="x", d_jsonl="{}")
    lines = ["file,title,date", "a,甲,bald", "none.txt,乙", "a.txt,丙", "b,丁", "sub,戊"]
    write(tmp_path, metadata_csv="\n".join([*lines, "d,己", "/etc/passwd,庚", '"', "../x.txt,辛"]))

    assert Sidecars().stated(tmp_path / "a.txt") == {"stated.title": "甲"}
    reasons = dict(told(tmp_path))
    assert list(reasons) == [f"metadata.csv:{line}" for line in range(2, 11)]
    remedies = (
        "write 2022-03-05", "no such file", "in line 2 already", "b.md and b.txt; write its ending",
        "is a folder", "fields of theirs", "no file of this folder", "quotation marks",
        "no file of this folder",
    )  # fmt: skip
    assert all(remedy in told for remedy, told in zip(remedies, reasons.values(), strict=True))


def test_outside_the_folders_given_only_rows_about_files_to_be_read_count(tmp_path):
    """Whoever takes in one file is not told of all others."""
    write(tmp_path, a_txt="x", b_txt="x", metadata_csv="file,date\na,bald\nb,bald\nc,2022\n")

    assert [place for place, _ in told(tmp_path, tmp_path / "b.txt")] == ["metadata.csv:3"]
    assert len(told(tmp_path)) == 3


def test_many_problems_are_told_in_one_line(tmp_path):
    """A register of another archive names thousands of files that are not here."""
    write(tmp_path, metadata_csv="file\n" + "".join(f"{n}.txt\n" for n in range(25)))
    found = told(tmp_path)

    assert len(found) == 21
    assert found[-1] == ("metadata.csv", "5 further problems of the kind")


def test_a_sidecar_file_that_cannot_be_read_is_told(tmp_path):
    """What others of its name hold is not."""
    write(tmp_path, sub__a_txt="x", metadata_csv="%PDF-1.4", sub__metadata_csv="%PDF-1.4")

    assert [place for place, _ in told(tmp_path / "sub")] == ["metadata.csv"]
    assert Sidecars().stated(tmp_path / "sub/a.txt") == {}


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_sidecar_file_is_not_read_through_a_link_out_of_the_folder(tmp_path):
    """It may lead anywhere, and what is read can be asked for."""
    write(tmp_path, out__metadata_csv="file,title\na,甲\n", p__a_txt="x")
    (tmp_path / "p/metadata.csv").symlink_to(tmp_path / "out/metadata.csv")

    found = discover([tmp_path / "p"])
    assert [path.name for path in found.links] == ["metadata.csv"]
    assert title(tmp_path / "p/a.txt") is None
    followed = Sidecars(discover([tmp_path / "p"], follow_links=True).sidecars)
    assert followed.stated(tmp_path / "p/a.txt") == {"stated.title": "甲"}


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_names_are_compared_as_they_are_shown(tmp_path):
    """Composed or not, and in GBK."""
    (tmp_path / "e\u0301.txt").write_text("x")
    (tmp_path / os.fsdecode(b"\xd2\xd2.txt")).write_text("x")
    write(tmp_path, metadata_csv="file,title\n\u00e9.txt,甲\n乙.txt,乙\n")

    assert title(tmp_path / "e\u0301.txt") == "甲"
    assert title(tmp_path / os.fsdecode(b"\xd2\xd2.txt")) == "乙"


def test_a_name_that_only_differs_in_case_is_told(tmp_path):
    """Where the system tells them apart."""
    write(tmp_path, a_txt="x", Metadata_csv="file,title\na,甲\n")
    if (tmp_path / "metadata.csv").exists():
        pytest.skip("names are the same here")

    assert told(tmp_path) == [("Metadata.csv", "is not read; call it metadata.csv")]
