"""What is read of documents in the forms in which official ones come, from the file on."""

from pathlib import Path

from kgrag.ingestion.load.load import load
from kgrag.ingestion.load.source import Source
from kgrag.ingestion.prepare import described
from tests.fixtures.kit import each

_FORMS = Path(__file__).parents[2] / "fixtures" / "official_documents.txt"
_LISTS = ("issuers", "regions")
_TOLD = ("title", *_LISTS, "number", "written", "issued", "kind", "level")  # empty if not given
_GIVEN = ("effective", "expires", "status")  # compared where given
_BETWEEN = "；"


def _forms():
    for block in _FORMS.read_text("utf-8").split("\n== ")[1:]:
        head, _, text = block.partition("\n--\n")
        name, *lines = head.splitlines()
        told = dict(line.split(": ", 1) for line in lines)
        yield name, told.pop("file", "1.txt"), text, told


def test_each_form_gives_what_its_text_says(tmp_path):
    """Title, issuers, number, dates, kind, level and place, as the fixture has them."""

    def check(_, file, text, told):
        (tmp_path / file).write_text(text, encoding="utf-8")
        document = described(load(Source(tmp_path / file)))
        fields = [*_TOLD, *(name for name in _GIVEN if name in told)]
        read = {name: getattr(document.metadata, name, "") for name in fields} | {
            "title": document.title
        }
        found = {k: _BETWEEN.join(v) if isinstance(v, tuple) else v for k, v in read.items()}
        assert found == {name: told.get(name, "") for name in fields}

    each(check, _forms())
