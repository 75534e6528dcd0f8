"""What tables beside files state of documents."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import IngestionError
from kgrag.ingestion.load.sidecar import SidecarRow, Sidecars, sidecar_rows
from kgrag.ingestion.load.source import discover
from kgrag.ingestion.load.statement import (
    LISTED,
    METADATA_FIELDS,
    field_of,
    stated_digest,
    stated_fields,
    stated_title,
    stated_value,
    statement,
    with_stated,
)
from kgrag.metadata import Metadata
from kgrag.text.messages import in_language


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
    chinese = "".join(in_language(reason, "zh") for reason in reasons.values())
    assert "没有这个文件；请改正文件名，或删去该行" in chinese


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


TABLE = "文件,标题,日期\n甲.txt,云岭省节能规划,2022-03-05\n乙.txt,青川市实施方案,2023\n"


def rows(text: str | bytes, name: str = "metadata.csv") -> list[SidecarRow]:
    """Return the rows of a sidecar file."""
    data = text if isinstance(text, bytes) else text.encode()
    return list(sidecar_rows(data, name=name))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "utf-16"])
def test_a_table_is_read_as_sheets_save_it(encoding):
    """Chinese Excel writes GBK, others UTF-8 with a mark."""
    assert rows(TABLE.encode(encoding)) == [
        SidecarRow(2, "甲.txt", (("标题", "云岭省节能规划"), ("日期", "2022-03-05"))),
        SidecarRow(3, "乙.txt", (("标题", "青川市实施方案"), ("日期", "2023"))),
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_table_may_be_divided_otherwise(delimiter, end):
    """As the first row is; blank lines and rows count as lines and are none."""
    text = f"file{delimiter}title\n\na.txt{delimiter}甲\n{delimiter}\nb.txt{delimiter}乙\n"

    found = rows(text.replace("\n", end))

    assert [(row.line, row.file, dict(row.values)) for row in found] == [
        (3, "a.txt", {"title": "甲"}),
        (5, "b.txt", {"title": "乙"}),
    ]


def test_a_value_may_hold_what_divides_and_stand_on_lines():
    """In quotation marks."""
    found = rows('file,title\na,"甲,\n乙"\nb,丙\n')

    assert [(row.line, row.file, row.values[0][1]) for row in found] == [
        (2, "a", "甲,\n乙"),
        (4, "b", "丙"),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name,title\na.txt,甲\n", {1: "no column says which file"}),
        ("file,title\na,甲,乙\nb,丙\n", {2: "3 values where the first row has 2", 3: ""}),
        ("file,title\n,甲\nb,丙,\n", {2: "names no file", 3: ""}),
        ('file,title\n"a,甲\nb,丙\nc"d\n', {2: "quotation marks", 3: "", 4: ""}),
        ('file,title\na,"甲"乙\nb,丙\n', {2: "quotation marks", 3: ""}),
        ('file,title\na,"甲\nb,"丙\nc,丁', {2: "quotation marks", 3: "quotation marks", 4: ""}),
        (f"file,title\na,{'x' * 200_000}\nb,丙", {2: "field larger", 3: ""}),
    ],
)
def test_a_broken_row_is_told_and_the_rest_goes_on(text, told):
    """With its line and what to do."""
    found = {row.line: row.problem for row in rows(text)}

    assert found.keys() == told.keys()
    assert all(
        bool(found[line]) == bool(what) and what in found[line] for line, what in told.items()
    )


def test_records_are_read_by_line():
    """Values as they are; a broken line is told."""
    text = '{"文件": "a.txt", "issuer": ["甲", "乙"], "date": 2022}\n\n{"file": \n[]\n{"id": "1"}\n'
    first, *others = rows(text.encode("gbk"), "metadata.jsonl")

    assert first == SidecarRow(1, "a.txt", (("issuer", ["甲", "乙"]), ("date", 2022)))
    assert [(row.line, row.problem[:12]) for row in others] == [
        (3, "not JSON (Ex"),
        (4, "is no object"),
        (5, "names no fil"),
    ]


def test_what_is_no_text_is_refused():
    """As any file that should be one."""
    with pytest.raises(IngestionError, match="PDF"):
        rows(b"%PDF-1.4 \x00\xff")


@given(st.text(alphabet='"file,;\n\r\t甲\x00{}[]:\\', max_size=200) | st.binary(max_size=200))
def test_rows_are_whole_or_broken_whatever_the_file(text):
    """Nothing is raised but that it is no text, and lines are those of the file."""
    for name in ("metadata.csv", "metadata.jsonl"):
        try:
            found = rows(text, name)
        except IngestionError:
            continue
        assert all(bool(row.file) != bool(row.problem) for row in found)
        assert [row.line for row in found] == sorted(row.line for row in found)


def test_a_statement_holds_what_can_be_read_of_a_row():
    """The rest is told, and further columns are kept as they are."""
    row = [
        ("文件", "a.txt"), ("标题", " 云岭省\n节能规划 "), ("发文机关", "甲厅、乙局;丙委、甲厅"),
        ("文号", "云政发 [2022] 3号"), ("级别", "省级"), ("状态", "试行"), ("地区", ""),
        ("施行日期", "很快"), ("主送机关", "各市、州人民政府；省直各部门"), ("备 注", "存档"),
        ("title", "另一个"), ("", "x"), ("x", {}), ("年", 2022), ("列" * 81, "x"),
    ]  # fmt: skip
    found, problems = statement(row)

    assert found == {
        "stated.title": "云岭省 节能规划",
        "stated.issuers": "甲厅；乙局；丙委",
        "stated.number": "云政发〔2022〕3号",
        "stated.level": "省",
        "stated.status": "试行",
        "stated.recipients": "各市、州人民政府；省直各部门",
        "stated.备注": "存档",
        "stated.年": "2022",
    }
    assert [problem.partition(":")[0] for problem in problems] == [
        "'施行日期'",
        "'x'",
        f"'{'列' * 39}…'",
    ]


def test_stated_fields_are_those_of_metadata():
    """Lists as tuples, and nothing of what a loader says or what is no field."""
    found, _ = statement(
        [
            ("issuer", ["甲厅", "乙局"]),
            ("date", 20220305),
            ("level", "市"),
            ("title", "丙"),
            ("a", "b"),
        ]
    )
    fields = stated_fields({**found, "encoding": "gbk", "issued": "1999"})

    assert fields == {"issuers": ("甲厅", "乙局"), "issued": "2022-03-05", "level": "市"}
    assert Metadata(**fields).year == 2022  # type: ignore[arg-type]
    assert stated_title(found) == "丙"
    assert stated_fields({"stated.issued": "irgendwann"}) == {}


@pytest.mark.parametrize(
    ("stated", "level", "regions"),
    [
        ({}, "省", ("云岭省",)),
        ({"regions": "云岭省；青川市"}, "市", ("云岭省", "青川市")),
        ({"regions": "重庆市；万州区"}, "县", ("重庆市", "万州区")),
        ({"regions": "全国"}, "国家", ()),
        ({"regions": "全国", "level": "部门"}, "部门", ()),
        ({"level": "市"}, "市", ("云岭省",)),
    ],
)
def test_what_is_stated_takes_the_place_of_what_was_read(stated, level, regions):
    """A region brings its level; what nobody states stays as it was read."""
    suggested = ("issuers", "level", "regions")
    read = Metadata(issuers=("甲厅",), level="省", regions=("云岭省",), inferred=suggested)
    told = with_stated(read, {f"stated.{k}": v for k, v in stated.items()})

    assert (told.issuers, told.level, told.regions) == (("甲厅",), level, regions)
    assert set(told.inferred) == {*suggested} - {*stated, *(["level"] if stated else [])}
    ministry = with_stated(Metadata(level="部门"), {"stated.regions": "全国"})
    assert ministry.level == "部门"


def test_the_digest_is_that_of_all_that_is_stated_and_of_nothing_else():
    """Order and what a loader says do not count."""
    one, other = {"stated.a": "1", "stated.b": "2"}, {"stated.b": "2", "stated.a": "1"}

    assert stated_digest({**one, "encoding": "gbk"}) == stated_digest(other) != ""
    assert stated_digest({"stated.a": "1", "stated.b": "3"}) != stated_digest(one)
    assert stated_digest({"stated.a": "1stated.b"}) != stated_digest({"stated.a": "1"})
    assert stated_digest({"encoding": "gbk"}) == ""


FIELDS = [*sorted(METADATA_FIELDS), "title", "备注"]


def test_every_field_of_metadata_can_be_stated():
    """One that is added there is a column, too, but for what only a reader knows."""
    fields = {*Metadata.__dataclass_fields__} - {"inferred"}

    assert fields == METADATA_FIELDS
    assert {field_of(name) for name in fields} == fields


@pytest.mark.parametrize(
    "text",
    [
        "2022-13", "2022-02-30", "2023-02-29", "长期", "0000", "22-3-5", "2022-3-", "2022-3/5",
        "2022年3月5日起", "5", "2022年第3号", "٢٠٢٢",
    ],
)  # fmt: skip
def test_what_is_no_date_is_refused_with_the_remedy(text):
    """A date that is not in the calendar is none; nothing is guessed."""
    with pytest.raises(ValueError, match="write 2022-03-05, 2022-03 or 2022"):
        stated_value("issued", text)


@pytest.mark.parametrize(
    ("field", "text", "told"),
    [
        ("regions", "朝阳区", "several places; write 北京市朝阳区"),
        ("regions", "京津冀", "no place that is known; write it in full"),
        ("level", "乡", "no level; write 国家, 部门, 省, 市 or 县"),
        ("title", "长" * 2001, "has 2,001 characters; at most 2,000"),
        ("备注", "\ufffd", "cannot be read; save it as UTF-8"),
        ("title", "甲\x00", "cannot be read; save it as UTF-8"),
        ("title", "甲\ud800", "cannot be read; save it as UTF-8"),
    ],
)
def test_what_cannot_be_read_says_what_and_the_remedy(field, text, told):
    """A value is never taken in part."""
    with pytest.raises(ValueError, match=told):
        stated_value(field, text)


@given(st.sampled_from(FIELDS), st.text())
def test_a_value_has_a_normal_form_or_a_problem(field, text):
    """Whatever is written there; the normal form is its own, and one that `Metadata` takes."""
    try:
        value = stated_value(field, text)
    except ValueError:
        return
    assert stated_value(field, value) == value
    fields = stated_fields({f"stated.{field}": value})
    Metadata(**fields)  # type: ignore[arg-type]
    assert all(isinstance(v, tuple) is (k in LISTED) for k, v in fields.items())
