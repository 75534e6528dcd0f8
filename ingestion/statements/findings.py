"""All rules over one document."""

from collections.abc import Sequence

from kgrag.ingestion.statements.definitions import definitions
from kgrag.ingestion.statements.duties import duties
from kgrag.ingestion.statements.finding import Finding
from kgrag.ingestion.statements.provisions import conditions
from kgrag.ingestion.statements.references import references
from kgrag.ingestion.statements.targets import targets
from kgrag.types import Heading


def findings(text: str, headings: Sequence[Heading], *, own_names: Sequence[str]) -> list[Finding]:
    """Return what the rules find in a document, in the order of the text within each kind.

    Args:
        text: The whole text.
        headings: In text order.
        own_names: Names by which the text may call itself: they are no references.
    """
    return [
        *references(text, own_names=own_names),
        *targets(text, headings=headings),
        *duties(text, headings=headings),
        *conditions(text),
        *definitions(text),
    ]
