"""What is in force is read alike from every store."""

from dataclasses import replace

from kgrag.ids import document_node_id
from kgrag.metadata import Metadata
from kgrag.qualifiers import Qualifiers
from kgrag.statements.in_force import InForce
from kgrag.types import Entity

ORGAN = "云岭省人民政府"
OLD, NEW = "云岭省节能补贴管理办法", "云岭省节能奖励管理规定"
TEXT = "本规定自2021年7月1日起施行。《云岭省节能补贴管理办法》同时废止，依据《云岭省节能条例》。"


def bundle(make, name, title, facts=(), **told):
    made = make.bundle(name, TEXT, title=title)
    metadata = Metadata(issuers=(ORGAN,), **told)
    return replace(made, document=replace(made.document, metadata=metadata), facts=list(facts))


def test_what_is_repealed_is_told_with_what_repeals_it(store, make):
    """By the citations that say so alone, with the dates of both documents."""
    node = Entity(document_node_id(OLD, ORGAN), OLD, "document")
    repeal = Qualifiers("reference", role="废止", match="exact")
    basis = Qualifiers("reference", role="依据", match="exact")
    facts = [
        make.qualified("d-new", TEXT, (NEW, "废止", node), repeal, place=OLD),
        make.qualified("d-new", TEXT, (NEW, "依据", "云岭省节能条例"), basis, place="依据"),
    ]
    store.upsert_document(bundle(make, "old", OLD, written="2015-03-01"), source="/old.txt")
    told = {"written": "2021-05-06", "effective": "2021-07-01", "expires": "2024-06-30"}
    store.upsert_document(bundle(make, "new", NEW, facts, **told), source="/new.txt")

    register = InForce.read(store)
    kinds = {
        day: [register.status(f"d-{name}", day).kind for name in ("old", "new")]
        for day in ("2021-06-30", "2021-07-01", "2024-07-01")
    }
    assert kinds == {
        "2021-06-30": ["in_force", "not_yet"],
        "2021-07-01": ["repealed", "in_force"],
        "2024-07-01": ["repealed", "expired"],
    }
    assert register.status("d-old", "2022-01-01").doc_id == "d-new"
    assert register.issued_after("2020-12-31") == {"d-new"}
